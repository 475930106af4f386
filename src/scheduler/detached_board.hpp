// The detached tasks of a scheduler: those of groups that may not use a task stack. Kept in the groups' own queues;
// the board lists the groups that have some queued, for idle workers.
//
// One lock per scheduler: this is the general path, not the fast one. All members of task_group that its header lists
// under the board's lock are touched under it only.
//
// Thread safety: any thread may call anything.
#pragma once

#include <cstdint>

#include <filch/platform/memory.hpp>
#include <filch/task_group.hpp>

#include "platform/thread.hpp"

namespace filch {
class sleepers;
class worker;
}  // namespace filch

namespace filch::detail {

/// A worker that sleeps in a group's wait.
struct group_waiter {
  worker* w;
  group_waiter* next;
};

class detached_board {
 public:
  detached_board(scheduler& home, sleepers& idle) noexcept : home_(home), idle_(idle) {}

  /// Queues a task of the group and wakes somebody for it.
  void push(task_group& group, detached_task& t) noexcept;
  /// A task has run: takes it out of its group, which may be gone afterwards.
  void end(detached_task& t) noexcept;
  /// Is anything queued?
  [[nodiscard]] bool has_work() const noexcept {
    // [DB1] seq_cst: after [SL3] in the one total order; pairs with the store in push.
    return queued_.load(std::memory_order_seq_cst) != 0;
  }
  /// Takes the oldest task of some group; null when there is none.
  detached_task* pop_any() noexcept;

  /// Waits, as worker `w`, until all detached tasks of the group have ended; runs them and parts of them meanwhile.
  void wait(worker& w, task_group& group) noexcept;

  [[nodiscard]] scheduler& home() const noexcept { return home_; }

 private:
  detached_task* pop(task_group& group) noexcept;
  bool help_taken(worker& w, task_group& group) noexcept;
  void sleep(worker& w, task_group& group) noexcept;
  void forget_ready(const task_group& group) noexcept;

  scheduler& home_;
  sleepers& idle_;
  platform::mutex mutex_;
  task_group* ready_first_ = nullptr;
  task_group* ready_last_ = nullptr;
  platform::atomic<std::uint64_t> queued_{0};
};

}  // namespace filch::detail
