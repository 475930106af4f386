// SuccessOnlyWS of Kumar, Murthy, Sarkar and Zheng (2016): Algorithm 1, lines 6 to 8 and 14 to 17; Algorithm 2, lines 3 to
// 9. A thief's request is never refused: it waits at the victim until that one has a task for it. A place is asked once
// until it has delivered.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "places/steal_protocol.hpp"

namespace filch::detail::places {

class success_only final : public steal_protocol {
 public:
  explicit success_only(steal_site& at);

  void step(bool rested) override;
  void asked(int thief, message_kind how) override;
  void tasks_came(int from) override;
  [[nodiscard]] bool end() override;

 private:
  void hunt(bool rested);
  [[nodiscard]] bool has_contacted(int place) const noexcept;

  steal_site& at_;
  thief_queue thieves_;
  std::vector<int> contacted_;  ///< places that have not delivered since they were asked
  victim_search search_;
  std::size_t in_phase_ = 0;     ///< victims asked since the last delivery
  std::optional<int> victim_;    ///< whose load is being read
  std::optional<receipt> sent_;  ///< of the last request
};

}  // namespace filch::detail::places
