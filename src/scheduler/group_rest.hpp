// What only some groups need: detached tasks, and the exception that wait() will throw. Made when first needed.
//
// Thread safety: any thread may call anything. Who runs a task of the group, or waits for it, keeps it alive.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>

#include <filch/detail/division.hpp>
#include <filch/platform/memory.hpp>
#include <filch/task_group.hpp>

#include "platform/thread.hpp"
#include "scheduler/group_profile.hpp"
#include "worker/detached_queue.hpp"
#include "worker/line_allocated.hpp"
#include "worker/lowest_exception.hpp"

namespace filch::detail {

class injector;

class group_rest : public line_allocated {
 public:
  static constexpr std::uint32_t most_queues = 512;

  /// Queues with numbers below `queues`, at most `most_queues`, will have lanes; `first`, of these, has one at once, in
  /// which the tasks of all others are.
  group_rest(injector& of, std::uint32_t queues, detached_queue& first);
  ~group_rest();
  group_rest(const group_rest&) = delete;
  group_rest& operator=(const group_rest&) = delete;

  /// Notes the exception in flight, unless one of an earlier task is known.
  void record(std::uint64_t order) noexcept;
  /// What was noted, which it forgets; null: nothing. Called when no task of the group is left.
  [[nodiscard]] std::exception_ptr take_error() noexcept;

  /// A thread outside has run a task of the group, in a root of the profile.
  void add_profile(const profiled_work& root) noexcept;
  /// The group was waited for.
  void end_profile() noexcept;
  /// What a task of the group that the worker runs belongs to in its profile; null: it has none.
  [[nodiscard]] profiled_construct* profiled_by(const worker& w) noexcept;

  /// A task came new into the lane; the caller is inside of its queue still.
  static void count_made(detached_lane& in) noexcept;
  /// The worker that has that queue has run so many of its detached tasks. The group may be gone afterwards.
  void count_ended(const detached_queue& of, std::uint64_t count) noexcept;
  /// Has every detached task ended that was made before, by who calls this or by tasks of the group? Then what they did
  /// is seen.
  [[nodiscard]] bool is_over() const noexcept;

  /// Its lane in that queue; null: there is none. Lanes of a queue are made by who is inside.
  [[nodiscard]] detached_lane* find_lane(const detached_queue& in) const noexcept;
  /// False: the queue came too late to have one.
  [[nodiscard]] bool may_have_lane(const detached_queue& in) const noexcept;
  /// Makes one. Null: the queue is to have none, or there is no memory.
  detached_lane* make_lane(detached_queue& in) noexcept;
  [[nodiscard]] detached_lane& own_lane() noexcept { return own_lane_; }
  [[nodiscard]] const detached_lane& own_lane() const noexcept { return own_lane_; }
  /// Have tasks come from several threads' queues, that of `lane` the latest? Who knows of a task from elsewhere, and is
  /// inside of a queue, is told so.
  bool fills_several(const detached_lane& lane) noexcept {
    // [DG5] relaxed: whatever lets somebody know of the task comes after this store.
    if (several_.load(std::memory_order_relaxed)) return true;
    if (&lane == &own_lane_) return false;
    several_.store(true, std::memory_order_relaxed);
    return true;
  }
  /// Calls f with one lane after the other, until it says true, and says whether it did. Further lanes may come.
  template <class F>
  bool any_lane(F f) const noexcept {
    for (std::uint32_t first = 0; first < queues_; first += 64) {
      // [DG4] acquire: the lane, from who has made it. seq_cst: after a waiter has said that it watches.
      std::uint64_t left = in_use_[first / 64].load(std::memory_order_seq_cst);
      for (; left != 0; left &= left - 1) {
        const auto number = first + static_cast<std::uint32_t>(std::countr_zero(left));
        if (f(*lanes_[number].load(std::memory_order_relaxed))) return true;
      }
    }
    return false;
  }

  /// The same for all of them.
  template <class F>
  void each_lane(F f) const noexcept {
    any_lane([&](detached_lane& lane) {
      f(lane);
      return false;
    });
  }

  injector& home;
  void* scope = nullptr;  ///< at a place: the finish that its detached tasks belong to; null: none is known
  // Owner of a group that lies on its C++ stack and has a total, while it divides: how, and what is left of that.
  std::optional<division> tasks;
  double work_left = 0;
  profiled_construct profiled;  ///< whoever runs tasks in the program's order

 private:
  void add_lane(detached_lane& lane) noexcept;

  const std::uint32_t queues_;
  platform::atomic<bool> several_{false};  ///< tasks have come from others than the own lane's queue
  std::unique_ptr<platform::atomic<detached_lane*>[]> lanes_;               ///< by the queue's number
  std::array<platform::atomic<std::uint64_t>, most_queues / 64> in_use_{};  ///< a bit for each of these
  detached_lane own_lane_;
  platform::mutex mutex_;                   ///< for exceptions and the profile
  std::unique_ptr<group_profile> profile_;  ///< of threads outside
  lowest_exception error_;
};

}  // namespace filch::detail
