// Lifeline-based global load balancing (Saraswat, Kambadur, Kodali, Grove and Krishnamoorthy, PPoPP 2011), as the
// success-only paper describes it in section IV: first so many places drawn at random, which answer at once; then this
// place's lifelines, which remember it until they have a task. The lifelines are a hypercube: places me + 2^i.
#pragma once

#include <optional>
#include <vector>

#include "places/steal_protocol.hpp"

namespace filch::detail::places {

class lifeline final : public steal_protocol {
 public:
  explicit lifeline(steal_site& at) : at_(at), thieves_(at) {}

  void step(bool rested) override;
  void asked(int thief, message_kind how) override;
  void tasks_came(int from) override;
  void refused(int by) override;
  [[nodiscard]] bool end() override;

 private:
  void hunt();
  void ask_lifelines();

  steal_site& at_;
  thief_queue thieves_;
  std::vector<int> registered_;  ///< lifelines that have not delivered since they were asked
  bool hunting_ = false;
  int attempts_left_ = 0;
  std::optional<int> victim_;  ///< drawn at random; has not answered
  std::size_t in_phase_ = 0;
};

}  // namespace filch::detail::places
