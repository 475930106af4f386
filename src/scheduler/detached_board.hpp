// The detached tasks of a scheduler: those of groups that may not use a task stack. Kept in the groups' own queues;
// the board lists the groups that have some queued, for idle workers.
//
// One lock per scheduler: this is the general path, not the fast one. It guards the groups' queues as well.
//
// Thread safety: any thread may call anything.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <filch/platform/memory.hpp>
#include <filch/scheduler.hpp>

#include "platform/thread.hpp"
#include "scheduler/group_rest.hpp"
#include "worker/task_state.hpp"

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
  /// What other workers run of a group, as it was at some moment: at most 64 tasks, the newest.
  struct taken_tasks {
    std::array<lineage, 64> running;
    std::size_t count = 0;
    bool beginning = false;  ///< some task was taken, and its worker has not said so yet

    [[nodiscard]] auto begin() const noexcept { return running.begin(); }
    [[nodiscard]] auto end() const noexcept { return running.begin() + static_cast<std::ptrdiff_t>(count); }
  };

  detached_task* pop(group_rest& group) noexcept;
  [[nodiscard]] static taken_tasks taken_of(const group_rest& group, const worker& by) noexcept;
  void wait_as(worker& w, group_rest& group) noexcept;
  bool help_taken(worker& w, group_rest& group) noexcept;
  void sleep(worker& w, group_rest& group) noexcept;
  static void doze_for(worker& w, const taken_tasks& taken) noexcept;
  void forget_ready(const group_rest& group) noexcept;

  scheduler& home_;
  sleepers& idle_;
  platform::mutex mutex_;
  group_rest* ready_first_ = nullptr;
  group_rest* ready_last_ = nullptr;
  platform::atomic<std::uint64_t> queued_{0};
};

}  // namespace filch::detail
