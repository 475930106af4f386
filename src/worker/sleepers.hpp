// Who sleeps, who searches, and when to wake somebody: docs/protocols/sleep.md.
//
// Idle workers are searching (awake, looking for work) or sleeping. An offer wakes as many sleepers as there is more on offer
// than workers that search; a searcher that finds work and was the last one wakes the next. Waiting workers (inside a join) are no part of this:
// their task's thief wakes them.
#pragma once

#include <cstdint>

#include <filch/platform/memory.hpp>

#include "worker/crowd.hpp"
#include "worker/idle_marks.hpp"
#include "worker/sleeper_counts.hpp"

namespace filch::detail {

class team;
class worker;

/// Who may take what is on offer.
enum class takers : std::uint8_t {
  thieves,  ///< those that the policy lets come to the offering worker
  anybody,  ///< any idle worker: they look at every source of work
};

class sleepers {
 public:
  /// `processors`: as for a crowd.
  explicit sleepers(team& everybody, std::uint32_t processors = 0) noexcept : team_(everybody), crowd_(processors) {}

  // For idle workers.
  void begin_search(const worker& w) noexcept;
  /// The searcher found work. Wakes another when it was the last one, which looks at that worker first.
  void end_search(worker& w, const worker* look_at = nullptr) noexcept;
  /// The searcher did not find what it was woken for, and looks anywhere from now on.
  void lose_track(worker& w) noexcept;
  /// The searcher is about to sleep; it must look for work once more before it does.
  void announce(worker& w) noexcept;
  /// The announced worker found work after all, or must not sleep. Afterwards it is searching again.
  void withdraw(worker& w) noexcept;
  /// Sleeps until somebody wakes the announced worker, or until that time (now_ns()). Afterwards it is searching again.
  /// False: nobody has.
  bool sleep(worker& w, std::int64_t deadline_ns) noexcept;
  /// The same in two steps. Parks until somebody wakes the announced worker, or until that time. False: nobody has, and
  /// it is announced as before. May be repeated; end_sleep() has to follow.
  [[nodiscard]] bool park(worker& w, std::int64_t deadline_ns) noexcept;
  void end_sleep(worker& w, bool woken) noexcept;

  // For whoever has made work visible.
  /// For tasks, of which each may be all that is left to do, so many workers are woken at once at most.
  static constexpr unsigned most_woken = 2;
  /// Call after so many tasks or pieces became visible to thieves, the last of them by a sequentially consistent
  /// operation. `is_only`: it is one task, and no other of that worker is visible.
  void offered(worker& by, unsigned parts = 1, takers who = takers::thieves, bool is_only = false) noexcept;
  /// The same, where there is no offering worker.
  void offered() noexcept;
  /// Workers that have no work, searching or sleeping. Looks at all; who begins or ends a search just now may be overlooked.
  [[nodiscard]] std::uint32_t idle() const noexcept;
  /// About as many: those that search are judged by the neighbours of that worker. For each offer.
  [[nodiscard]] std::uint32_t about_idle(const worker& near) const noexcept;
  /// Does any worker search? Looks at that worker and its neighbours first.
  [[nodiscard]] bool somebody_searches(std::uint32_t near) const noexcept;
  /// Does any worker search or sleep? After an owner has calmed its attention word: who is not seen announces its sleep
  /// later.
  [[nodiscard]] bool anybody() const noexcept;
  /// Does everybody sleep but one? A hint.
  [[nodiscard]] bool all_but_one() const noexcept;
  /// Something was brought to that worker, by an operation that acquired how the worker said that it waits for such.
  void wake(worker& w) noexcept;
  /// Something was put where that worker looks before it sleeps, by a sequentially consistent operation.
  void deliver(worker& w) noexcept;
  /// Has any idle worker announced that it is about to sleep, and not been woken? Whoever is not seen announces later.
  [[nodiscard]] bool somebody_sleeps() const noexcept;
  /// Wakes everybody: the scheduler stops.
  void wake_all() noexcept;

  // For the lookout, where there are more workers than processors.
  [[nodiscard]] crowd& held_back() noexcept { return crowd_; }
  /// Are as many awake as there are processors? A hint.
  [[nodiscard]] bool are_crowded() const noexcept;
  /// Wakes that many sleepers, which look at all there is.
  void wake_more(unsigned most) noexcept { wake_any(most, nullptr, nullptr, takers::anybody); }

  // Nobody is to fall asleep for a while: see filch/keep_warm.hpp. Any thread; calls are counted.
  void begin_warm() noexcept;
  void end_warm() noexcept { warm_.fetch_sub(1, std::memory_order_relaxed); }  // who sees it late sleeps late
  /// Of a worker that has announced its sleep, or says that it dozes.
  [[nodiscard]] bool is_warm() const noexcept {
    // [KW1] seq_cst: after [SL3] and [AT4]; pairs with the other one: who is not seen by the one who wakes sees this.
    // No exploration catches it: it would cost a wake-up later, and no more.
    return warm_.load(std::memory_order_seq_cst) != 0;
  }

  // For waiting workers.
  void begin_wait() noexcept { waiting_.fetch_add(1, std::memory_order_seq_cst); }  // [SL4]
  void end_wait() noexcept { waiting_.fetch_sub(1, std::memory_order_relaxed); }    // a late wake-up does no harm

 private:
  /// Wakes that many sleepers, or all, the next after the waking worker first, if that is one; they look at that other worker
  /// first. False: there was none that may take something there.
  bool wake_any(unsigned most, worker* by, const worker* look_at, takers who) noexcept;
  [[nodiscard]] bool claim(worker& w, const worker* look_at = nullptr) noexcept;
  /// Something is visible. True: so many are awake that nobody else is to be woken for it now.
  [[nodiscard]] bool holds_back() noexcept;
  /// Is the worker that this one has sent for last still on its way?
  [[nodiscard]] bool last_sent_comes(const worker& to) noexcept;

  team& team_;
  idle_marks marks_;
  sleeper_counts announced_;  ///< idle workers that sleep or are about to
  // Each on a line of its own: many look at them, and what changes is often but one.
  alignas(64) platform::atomic<std::uint32_t> waiting_{0};  ///< parked waiters
  alignas(64) platform::atomic<std::uint32_t> warm_{0};     ///< so many want nobody to sleep
  alignas(64) crowd crowd_;
};

}  // namespace filch::detail
