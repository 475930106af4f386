// Almost deterministic work stealing (Shiina and Taura 2019): docs/protocols/adws.md.
//
// The root of the scheduler's own caller has the range of all workers. Each construct of a task whose range is in more
// than one worker's part of the line is divided (detail/division.hpp), and its children are given to the workers at the
// division points. All else is as in `lace`.
#pragma once

#include "policy/lace.hpp"
#include "worker/steal_range.hpp"

namespace filch::detail {

class adws final : public lace {
 public:
  /// Without stealing, tasks are where division has put them, and stay there.
  adws(std::unique_ptr<victim_selector> victims, std::unique_ptr<join_strategy> joins, int workers, bool steals);

  void begin_root(worker& w) noexcept override;
  void answer(worker& w) noexcept override;
  void offer_all(worker& w) noexcept override;
  void begin_blocked(worker& w) noexcept override;
  [[nodiscard]] bool takes_back() const noexcept override { return steals_; }
  [[nodiscard]] bool steals_anywhere() const noexcept override { return false; }
  [[nodiscard]] bool may_come(const worker& sleeper, const worker& to) const noexcept override;
  bool acquire(worker& w) noexcept override;
  [[nodiscard]] bool work_visible(worker& w) noexcept override;
  bool help(worker& w, lineage awaited, work_share* adopter) noexcept override;
  [[nodiscard]] bool help_visible(worker& w, lineage awaited) noexcept override;

 private:
  steal_result take(worker& thief, worker& victim, const lineage* only) noexcept override;
  [[nodiscard]] bool steals(const worker& w) const noexcept;
  [[nodiscard]] steal_range* open_to(const worker& w) const noexcept;
  [[nodiscard]] worker* choose(worker& thief, const steal_range& in) const noexcept;
  [[nodiscard]] static bool may_take(const steal_range& in, const worker& thief, const worker& victim) noexcept;

  bool steals_;  ///< also while nobody is blocked
  steal_range_ref everybody_;
};

}  // namespace filch::detail
