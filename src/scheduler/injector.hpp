// The detached tasks of a scheduler: those of groups that may not use a task stack (docs/protocols/injector.md). Each
// worker has a queue of its own; other threads share one. Idle workers take half of what they find, from any queue;
// waiters what is of their group, wherever it is.
//
// Thread safety: any thread may call anything, unless it says otherwise.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <filch/platform/memory.hpp>
#include <filch/scheduler.hpp>

#include "scheduler/group_rest.hpp"
#include "worker/closure_pool.hpp"
#include "worker/detached_queue.hpp"
#include "worker/work_source.hpp"

namespace filch::detail {
class scheduler_core;
class sleepers;
class team;
class worker;
class injector final : public work_source {
 public:
  injector(scheduler_core& home, team& everybody, sleepers& idle) noexcept
      : home_(home), everybody_(everybody), idle_(idle) {}

  /// What a group needs that the calling thread adds a task to. Throws std::bad_alloc.
  [[nodiscard]] std::unique_ptr<group_rest> make_rest();
  /// The same for a group that outlasts many guests: also those that come later will have lanes.
  [[nodiscard]] std::unique_ptr<group_rest> make_lasting_rest();
  /// Memory for a task that the calling thread makes, as closure_pool::take; the pool that it is to go back to, or null.
  [[nodiscard]] void* take_memory(closure_pool*& from) noexcept;
  /// Queues a task, whose group its `home` says, and wakes somebody for it; with a policy that runs everything at once, it runs
  /// now.
  void push(detached_task& t) noexcept { queue(t, true); }
  /// The group has one more pending task, which nobody may run before it is released.
  void hold(group_rest& group) noexcept;
  /// Queues a task that was held.
  void release(detached_task& t) noexcept { queue(t, false); }
  /// Worker that has run a task: takes it out of its group, which may be gone afterwards.
  void end(group_rest& of) noexcept;

  bool acquire(worker& w) noexcept override;
  /// The same for what threads have handed over that are none of its workers.
  bool acquire_from_outside(worker& w) noexcept;
  [[nodiscard]] bool work_visible() const noexcept override;
  /// Worker: runs what is queued until nothing is.
  void drain(worker& w) noexcept;

  /// Worker that waits for tasks of the group: runs those in queues, else tries once to run a part of one that another
  /// worker runs. False: found nothing.
  bool help(worker& w, group_rest& group) noexcept;
  /// May help() find something now? Asks as policy::help_visible() does.
  [[nodiscard]] bool help_visible(worker& w, const group_rest& group) const noexcept;

  /// A waiter is about to sleep, and looks at the group's counts and lanes once more afterwards: until unwatch() it is woken when
  /// tasks come or have ended, if it has said that it waits for the group.
  void watch(const group_rest& group) noexcept;
  void unwatch(const group_rest& group) noexcept;

  /// The worker, which has nothing else to do, runs what is queued of the group until that is set, and sleeps where there is none.
  /// Who sets it wakes the worker.
  void serve(worker& w, group_rest& group, const platform::atomic<bool>& until) noexcept;

  /// Waits until all detached tasks of the group have ended; runs them and parts of them meanwhile. When none is left,
  /// the scheduler may be gone.
  /// Throws as scheduler::run().
  static void wait(group_rest& group);
  /// The same for a thread that cannot be a guest: others have to run them.
  static void outlast(const group_rest& group) noexcept;

 private:
  class group_wait;
  class group_service;

  /// Waiters that sleep, or are about to, of some groups. It outlasts them: who has ended a group's last task still looks.
  struct alignas(64) watch_count {
    platform::atomic<std::uint32_t> watchers{0};

    // [DG3] seq_cst: after what the watchers look at once more, [DQ3] or [DG1]; acquires what they have said before, [DB6].
    [[nodiscard]] bool is_watched() const noexcept { return watchers.load(std::memory_order_seq_cst) != 0; }
  };
  /// Most groups are waited for by who has made them, so those of one maker share one.
  static constexpr std::size_t watch_counts = 64;

  [[nodiscard]] std::unique_ptr<group_rest> make_rest(std::uint32_t wanted);
  [[nodiscard]] worker* caller() const noexcept;
  [[nodiscard]] detached_queue& own_queue() noexcept;
  static detached_lane& enter_lane(detached_queue& preferred, group_rest& group) noexcept;
  void queue(detached_task& t, bool is_new) noexcept;
  void add(detached_lane& lane, const detached_queue::row& tasks) noexcept;
  [[nodiscard]] watch_count& watch_count_of(const group_rest& group) noexcept;
  void wake_waiters_of(const group_rest* group) noexcept;
  void flush(worker& w) noexcept;
  bool run_at_once(group_rest& group, detached_task& t) noexcept;
  void run(worker& w, detached_task& t) noexcept;
  void run_profiled(worker& w, detached_task& t) noexcept;
  detached_task* take_own(worker& w, const group_rest* of) noexcept;
  detached_task* take_outside(worker& w, detached_lane& lane) noexcept;
  detached_task* take_half(worker& w, detached_queue& from, detached_lane* only) noexcept;
  detached_task* take_half_inside(worker& w, detached_lane& lane) noexcept;
  detached_task* take_nested(worker& w, worker& from, std::uint64_t activation) noexcept;
  detached_task* take_any(worker& w) noexcept;
  detached_task* take_of(worker& w, group_rest& group, bool from_outside) noexcept;
  template <class Take>
  bool run_all(worker& w, const Take& take) noexcept;
  bool run_queued(worker& w, group_rest& group, bool from_outside) noexcept;
  bool run_served(worker& w, group_rest& group) noexcept;
  bool run_found(worker& w, detached_task* t) noexcept;
  /// Calls f(lineage) with one task after the other that other workers run of the group, one of each, until it says true. Says
  /// whether it did.
  template <class F>
  bool any_running(const group_rest& group, const worker& by, F f) const noexcept;
  void wait_as(worker& w, group_rest& group, bool from_outside) noexcept;
  bool help_running(worker& w, const group_rest& group) noexcept;

  scheduler_core& home_;
  team& everybody_;
  sleepers& idle_;
  detached_queue outside_{0};  ///< of threads that are none of its workers
  shared_closure_pool outside_closures_;
  std::array<watch_count, watch_counts> watched_;
};

}  // namespace filch::detail
