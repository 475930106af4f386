// Detached tasks in the order in which they came: docs/protocols/injector.md. Each worker has a queue, for the tasks
// that it makes and for those that it has taken from others to hand them on. Of each group a queue has a lane.
//
// Invariants
//  1. One thread at a time is inside, and only who is inside touches what is not atomic. It stays for a few
//     instructions, and calls nothing of the program's.
//  2. The lanes that hold tasks are linked, in the order in which they were filled. So a lane that is empty is known to
//     its group only, and ends with that.
#pragma once

#include <cstddef>
#include <cstdint>

#include <filch/platform/memory.hpp>
#include <filch/task_group.hpp>

namespace filch::detail {

class detached_queue;

/// The tasks of one group in one queue.
struct detached_lane {
  detached_lane(group_rest& its_group, detached_queue& in) noexcept : group(its_group), queue(in) {}

  group_rest& group;
  detached_queue& queue;
  detached_lane* next = nullptr;  ///< of the same group; constant once the lane is linked
  /// Any thread: does it hold tasks?
  // [DQ3] release: by who has taken its last task: that worker's activation comes first ([AC1]). Pairs with the acquire
  // of a waiter. No exploration catches this: a waiter that sees neither the task nor who runs it asks nobody to share.
  platform::atomic<bool> filled{false};
  // For who is inside.
  detached_task* oldest = nullptr;
  detached_task* newest = nullptr;
  std::size_t size = 0;
  detached_lane* older = nullptr;
  detached_lane* newer = nullptr;
};

class detached_queue {
 public:
  /// A few tasks in a row, linked by `next`.
  struct row {
    detached_task* oldest = nullptr;
    detached_task* newest = nullptr;
    std::size_t size = 0;
  };

  // Any thread.

  /// Are there tasks? Who looks before it sleeps is not told wrongly.
  [[nodiscard]] bool has_tasks() const noexcept {
    // [DQ1] seq_cst: after [SL3] in the one total order; pairs with the store in leave().
    return word_.load(std::memory_order_seq_cst) >= one_task;
  }
  /// The same, as a hint.
  [[nodiscard]] bool may_have_tasks() const noexcept { return word_.load(std::memory_order_relaxed) >= one_task; }
  void enter() noexcept;
  /// False: somebody is inside.
  [[nodiscard]] bool try_enter() noexcept;

  // Who is inside.

  /// True: the first tasks have come, so the caller has to say that there is something; they are visible.
  bool leave() noexcept;
  /// Null: there are no tasks.
  [[nodiscard]] detached_lane* oldest_lane() const noexcept { return oldest_; }
  [[nodiscard]] detached_lane* newest_lane() const noexcept { return newest_; }
  /// Adds tasks as the newest. True: the lane was empty.
  bool add(detached_lane& to, row tasks) noexcept;
  [[nodiscard]] detached_task* take_newest(detached_lane& from) noexcept;
  /// At most as many as the lane holds.
  [[nodiscard]] row take_oldest(detached_lane& from, std::size_t count) noexcept;

 private:
  static constexpr std::uint64_t inside = 1;
  static constexpr std::uint64_t one_task = 2;

  void unlink(detached_lane& emptied) noexcept;

  platform::atomic<std::uint64_t> word_{0};  ///< twice the number of tasks, and whether somebody is inside
  std::uint64_t size_ = 0;
  detached_lane* oldest_ = nullptr;
  detached_lane* newest_ = nullptr;
};

}  // namespace filch::detail
