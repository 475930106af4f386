// What only some groups need: detached tasks, and the exception that wait() will throw. Made when first needed.
//
// Thread safety: any thread may call anything. Who runs a task of the group, or waits for it, keeps it alive.
#pragma once

#include <cstdint>
#include <exception>

#include <filch/platform/memory.hpp>
#include <filch/task_group.hpp>

#include "platform/thread.hpp"
#include "worker/detached_queue.hpp"

namespace filch::detail {

class injector;

class group_rest {
 public:
  /// `first`: the queue that most tasks will be in.
  group_rest(injector& of, detached_queue& first) noexcept : home(of), own_lane_(*this, first) {}
  ~group_rest();
  group_rest(const group_rest&) = delete;
  group_rest& operator=(const group_rest&) = delete;

  /// Notes the exception in flight, unless one of an earlier task is known.
  void record(std::uint64_t order) noexcept;
  /// Throws what was noted, and forgets it. Called when no task of the group is left.
  void rethrow();

  // Counts of its detached tasks, all in one word: docs/protocols/injector.md.

  struct counts {
    std::uint64_t spawned;  ///< so far; gives their order
    std::uint64_t pending;  ///< have not ended, as far as their workers have said so
    bool watched;           ///< a waiter sleeps, or is about to, and is to be woken
    explicit counts(std::uint64_t word) noexcept
        : spawned(word >> 33), pending(word & (watched_bit - 1)), watched((word & watched_bit) != 0) {}
  };
  /// A task is in the group's queues; its producer is inside of the queue still. What held before.
  counts add_task() noexcept;
  /// Tasks were moved from one queue to another.
  counts moved() noexcept;
  /// So many tasks have ended. What held before. The group may be gone when none is left.
  counts end_tasks(std::uint64_t count) noexcept;
  /// A waiter is about to sleep, and looks at the queues afterwards. What held before.
  counts watch() noexcept;
  /// Somebody is going to wake all who wait.
  void unwatch() noexcept;
  /// Has no task been spawned that has not ended? Then what they did is seen.
  [[nodiscard]] bool is_over() const noexcept;
  /// A wait has ended: further tasks are numbered anew, before the numbers run out.
  void begin_anew() noexcept;

  /// Its lane in that queue; null: there is none. Lanes of a queue are made by who is inside.
  [[nodiscard]] detached_lane* find_lane(const detached_queue& in) noexcept;
  /// Makes one. Null: there is no memory.
  detached_lane* make_lane(detached_queue& in) noexcept;
  /// All lanes; further ones may come.
  [[nodiscard]] detached_lane* first_lane() const noexcept;
  [[nodiscard]] detached_lane& own_lane() noexcept { return own_lane_; }

  injector& home;

 private:
  static constexpr std::uint64_t watched_bit = std::uint64_t{1} << 32;
  static constexpr std::uint64_t one_spawned = watched_bit << 1;

  platform::atomic<std::uint64_t> word_{0};
  platform::atomic<detached_lane*> lanes_{&own_lane_};
  detached_lane own_lane_;
  platform::mutex error_mutex_;
  std::uint64_t error_order_ = 0;
  std::exception_ptr error_;
};

}  // namespace filch::detail
