// BaselineWS of Kumar, Murthy, Sarkar and Zheng (2016): Algorithm 1, lines 10 to 13; Algorithm 2, lines 11 to 15. A thief
// occupies its victim, by a lock and a flag that the victim shows, and waits for tasks or a refusal.
#pragma once

#include <optional>

#include "places/steal_protocol.hpp"

namespace filch::detail::places {

class baseline final : public steal_protocol {
 public:
  explicit baseline(steal_site& at) : at_(at) {}

  void step(bool rested) override;
  void step_outside() override { serve(); }
  void asked(int thief, message_kind how) override;
  void tasks_came(int from) override;
  void refused(int by) override;
  [[nodiscard]] bool end() override;

 private:
  enum class state { calm, reading, locking, waiting };

  void serve();
  void hunt(bool rested);
  [[nodiscard]] bool go_on();

  steal_site& at_;
  victim_search search_;
  state state_ = state::calm;
  int victim_ = 0;
  std::size_t in_phase_ = 0;  ///< victims that were occupied since the last delivery
};

}  // namespace filch::detail::places
