// The detached tasks of a scheduler: those of groups that may not use a task stack. Kept in the groups' own queues;
// the board lists the groups that have some queued, for idle workers.
//
// One lock per scheduler: this is the general path, not the fast one. It guards the groups' queues as well.
//
// Thread safety: any thread may call anything.
#pragma once

#include <cstdint>

#include <filch/platform/memory.hpp>
#include <filch/scheduler.hpp>

#include "platform/thread.hpp"
#include "scheduler/group_rest.hpp"

namespace filch {
class sleepers;
class worker;
}  // namespace filch

namespace filch::detail {

class detached_board {
 public:
  detached_board(scheduler& home, sleepers& idle) noexcept : home_(home), idle_(idle) {}

  /// Queues a task of the group and wakes somebody for it.
  void push(group_rest& group, detached_task& t) noexcept;
  /// A task has run: takes it out of its group, which may be gone afterwards.
  void end(detached_task& t) noexcept;
  /// Is anything queued?
  [[nodiscard]] bool has_work() const noexcept {
    // [DB1] seq_cst: after [SL3] in the one total order; pairs with the store in push.
    return queued_.load(std::memory_order_seq_cst) != 0;
  }
  /// Takes the oldest task of some group; null when there is none.
  detached_task* pop_any() noexcept;

  /// Waits until all detached tasks of the group have ended; runs them and parts of them meanwhile.
  void wait(group_rest& group);

 private:
  detached_task* pop(group_rest& group) noexcept;
  void wait_as(worker& w, group_rest& group) noexcept;
  bool help_taken(worker& w, group_rest& group) noexcept;
  void sleep(worker& w, group_rest& group) noexcept;
  void forget_ready(const group_rest& group) noexcept;

  scheduler& home_;
  sleepers& idle_;
  platform::mutex mutex_;
  group_rest* ready_first_ = nullptr;
  group_rest* ready_last_ = nullptr;
  platform::atomic<std::uint64_t> queued_{0};
};

}  // namespace filch::detail
