// What only some groups need: detached tasks, and the exception that wait() will throw. Made when first needed.
//
// Thread safety: the fields of detached tasks are touched under the lock of the board only, except `pending`; the
// exception has its own lock.
#pragma once

#include <cstdint>
#include <exception>

#include <filch/platform/memory.hpp>
#include <filch/task_group.hpp>

#include "platform/thread.hpp"

namespace filch {
class worker;
}

namespace filch::detail {

class detached_board;

/// A worker that sleeps in a group's wait.
struct group_waiter {
  worker* w;
  group_waiter* next;
};

class group_rest {
 public:
  explicit group_rest(detached_board& of) noexcept : board(of) {}

  /// Notes the exception in flight, unless one of an earlier task is known.
  void record(std::uint64_t order) noexcept;
  /// Throws what was noted, and forgets it. Called when no task of the group is left.
  void rethrow();

  detached_board& board;
  platform::atomic<std::uint64_t> pending{0};  ///< detached tasks that have not ended; any thread may look
  std::uint64_t spawned = 0;                   ///< detached so far; gives their order
  detached_task* queue_first = nullptr;
  detached_task* queue_last = nullptr;
  detached_task* taken = nullptr;
  group_waiter* waiters = nullptr;
  group_rest* next_ready = nullptr;  ///< in the board's list of groups with queued tasks

 private:
  platform::mutex error_mutex_;
  std::uint64_t error_order_ = 0;
  std::exception_ptr error_;
};

}  // namespace filch::detail
