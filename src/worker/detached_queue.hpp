// Detached tasks in the order in which they came: docs/protocols/injector.md. Each worker has a queue, for the tasks
// that it makes and for those that it has taken from others to hand them on. Of each group a queue has a lane.
//
// Invariants
//  1. One thread at a time is inside, and only who is inside touches what is not atomic. It stays for a few
//     instructions, and calls nothing of the program's.
//  2. The lanes that hold tasks are linked, in the order in which they were filled. So a lane that is empty is known to
//     its group only, and ends with that.
//  3. What its owner writes for each task, and what others look at before they enter, are in different cache lines.
#pragma once

#include <cstddef>
#include <cstdint>

#include <filch/platform/memory.hpp>
#include <filch/task_group.hpp>

#include "worker/line_allocated.hpp"

namespace filch::detail {

class detached_queue;

/// The tasks of one group in one queue.
struct detached_lane : line_allocated {
  detached_lane(group_rest& its_group, detached_queue& in) noexcept : group(its_group), queue(in) {}

  group_rest& group;
  detached_queue& queue;
  /// Any thread: does it hold tasks?
  alignas(64) platform::atomic<bool> filled{false};
  // What of the group has happened here, ever: who is inside counts the tasks that came new, the queue's worker those
  // that it has run, wherever they came from.
  platform::atomic<std::uint64_t> made{0};
  platform::atomic<std::uint64_t> ended{0};
  // For who is inside.
  std::uint64_t newest_order = 0;  ///< of those that came new
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

  explicit detached_queue(std::uint32_t its_number) noexcept : number(its_number) {}

  // Any thread.

  /// Are there tasks? Who looks before it sleeps is not told wrongly.
  [[nodiscard]] bool has_tasks() const noexcept {
    // [DQ1] seq_cst: after [SL3] in the one total order; pairs with the store in leave().
    return filled_.load(std::memory_order_seq_cst);
  }
  /// The same, as a hint.
  [[nodiscard]] bool may_have_tasks() const noexcept { return filled_.load(std::memory_order_relaxed); }
  /// Others than the owner, before they enter: has it tasks, as far as is known, and was nobody there just now? However
  /// many look for tasks, an owner that adds some has its line back for most of the time.
  [[nodiscard]] bool may_visit() noexcept;
  /// Others than the owner. For so many ticks visits are put off.
  [[nodiscard]] std::uint64_t rest_left() const noexcept;
  void enter() noexcept;
  /// False: somebody is inside.
  [[nodiscard]] bool try_enter() noexcept;

  // Who is inside.

  /// True: the first tasks have come, so the caller has to say that there is something; they are visible.
  bool leave() noexcept;
  [[nodiscard]] bool is_empty() const noexcept { return size_ == 0; }
  /// Nobody visits it for a moment: who adds a task has mostly more of them, or runs it at once.
  void put_off_visits() noexcept;
  /// Null: there are no tasks.
  [[nodiscard]] detached_lane* oldest_lane() const noexcept { return oldest_; }
  [[nodiscard]] detached_lane* newest_lane() const noexcept { return newest_; }
  /// Adds tasks as the newest. True: the lane was empty.
  bool add(detached_lane& to, row tasks) noexcept;
  [[nodiscard]] detached_task* take_newest(detached_lane& from) noexcept;
  /// At most as many as the lane holds.
  [[nodiscard]] row take_oldest(detached_lane& from, std::size_t count) noexcept;

  const std::uint32_t number;  ///< of its worker, counted from 1; 0: of all other threads

 private:
  void unlink(detached_lane& emptied) noexcept;

  alignas(64) platform::atomic<bool> inside_{false};
  bool told_ = false;  ///< what filled_ is
  std::uint64_t size_ = 0;
  detached_lane* oldest_ = nullptr;
  detached_lane* newest_ = nullptr;
  // For who looks from outside.
  alignas(64) platform::atomic<bool> filled_{false};  ///< are there tasks? Written by who is inside
  platform::atomic<std::uint64_t> next_visit_{0};     ///< ticks
};

}  // namespace filch::detail
