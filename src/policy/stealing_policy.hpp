// What all policies have in common: idle workers look for work themselves, in a shared deque or by asking for it;
// waiters do so by a join strategy; and several tasks got at once become proxies on the thief's own stack.
//
// A thief that takes several tasks marks all but the newest `batched`, pushes a proxy for each onto its own stack, runs
// the newest, and then its proxies, newest first. Who runs a proxy (the thief, or one who stole it from there) first
// moves the original from batched to taken; its owner, come to its join, may instead take a batched task back. So a
// task that nobody has begun never makes its owner wait, and a proxy that comes too late does nothing.
//
// Short tasks it may keep: then there are no proxies, it runs the oldest first, and nobody else but their owner runs any,
// unless it falls asleep in one.
#pragma once

#include <cstdint>
#include <memory>

#include "join/join.hpp"
#include "victim/victim.hpp"
#include "worker/policy.hpp"

namespace filch::detail {

class stealing_policy : public policy, protected steal_source {
 public:
  stealing_policy(std::unique_ptr<victim_selector> victims, std::unique_ptr<join_strategy> joins);

  void offer_all(worker& w) noexcept override;
  bool acquire(worker& w) noexcept override;
  bool help(worker& w, lineage awaited, work_share* adopter) noexcept override;
  [[nodiscard]] bool work_visible(worker& w) noexcept override;
  [[nodiscard]] bool help_visible(worker& w, lineage awaited) noexcept override;
  [[nodiscard]] bool waits_run_given() const noexcept override { return joins_->runs_given(); }

 protected:
  steal_result take(worker& thief, worker& victim, const lineage* only) noexcept override;
  steal_result take_any(worker& thief) noexcept final;

  /// Owner. Makes all tasks of its stack available, whether or not anybody has asked.
  virtual void offer_tasks(worker& w) noexcept = 0;
  /// As take(), tasks of the stack alone, and asking for nothing.
  virtual steal_result take_task(worker& thief, worker& victim, const lineage* only) noexcept = 0;
  /// Any thread. Is there a task to take from victim, as take() with `only` would?
  [[nodiscard]] virtual bool shows_task(const worker& victim, const lineage* only) const noexcept = 0;
  /// Any thread. May take() with `only` take what lies at that place of the victim's stack, and was on offer before this?
  [[nodiscard]] static bool may_take(const worker& victim, std::uint32_t index, const lineage* only) noexcept {
    if (only == nullptr) return true;
    const auto base = victim.activations.find(only->id);
    return base && index >= *base;
  }
  /// Something was taken from victim.
  virtual void stolen_from(worker& /*victim*/) noexcept {}
  /// The worker has run so many tasks that it took, in so many ticks.
  virtual void ran(worker& /*w*/, std::uint32_t /*tasks*/, std::uint64_t /*ticks*/) noexcept {}

  /// May a waiter adopt parts of its loop from anybody? Not where workers have a range, or take nothing themselves.
  [[nodiscard]] virtual bool adopts_from_anybody() const noexcept { return steals_anywhere(); }

  /// Any thread. Is there anything that take() would take from victim? Asks it if there is not.
  [[nodiscard]] bool shows_work(worker& victim, const lineage* only = nullptr) const noexcept;
  /// A worker other than w, or null when it is alone.
  [[nodiscard]] worker* any_other(worker& w) const noexcept { return victims_->choose(w); }
  /// Searching worker: runs what it has found, and ends the search. False: somebody else was faster.
  bool run_found(worker& w, const steal_result& found) noexcept;
  /// Waiting worker: runs or adopts what it has found. False: somebody else was faster.
  bool run_help(worker& w, const steal_result& found, work_share* adopter) noexcept;

 private:
  bool adopt_part(worker& w, worker& victim, seen_piece part, work_share& adopter) noexcept;
  /// Waiting worker: adopts a piece of the same loop or bag, wherever it is. False: found none, or somebody else was faster.
  bool adopt_any(worker& w, work_share& adopter) noexcept;
  template <class Claimed>
  bool run(worker& w, const steal_result& found, Claimed claimed) noexcept;
  static run_result run_proxy(task& t, run_by who);

  std::unique_ptr<victim_selector> victims_;
  std::unique_ptr<join_strategy> joins_;
};

}  // namespace filch::detail
