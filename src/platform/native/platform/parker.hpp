// The platform seam: putting one thread to sleep and waking it again.
#pragma once

#include <cstdint>
#include <limits>

#include <sched.h>
#include <sys/types.h>

#include <filch/platform/memory.hpp>

namespace filch::platform {

/// A binary token. `park` takes it, sleeping until there is one; `unpark` leaves it. An `unpark` that comes first is
/// not lost. One thread parks at a time; any thread unparks, also from a signal handler, and never waits.
///
/// A kernel may put a woken thread onto the processor of the thread that woke it, although its own is idle (Linux in a
/// virtual machine does, when the host has descheduled the idle one); there one of the two waits for up to several
/// milliseconds. So a thread of the scheduler's own sleeps bound to the processor on which it fell asleep, and wakes up
/// there; if the waker is on that processor by then, it binds the sleeper to the others. Awake again, the thread has
/// the affinity mask that it had before, or the one that somebody else has given it meanwhile. The masks of threads
/// that belong to the program are never touched.
class parker {
 public:
  /// The thread that parks here is the scheduler's own. Call before it parks for the first time.
  void bind_while_asleep() noexcept { binds_ = true; }

  /// Takes the token, sleeping until somebody leaves one.
  void park() noexcept { park_until(std::numeric_limits<std::int64_t>::max()); }
  /// The same, but goes without one at that time of the clock (now_ns()), if not somewhat later.
  void park_until(std::int64_t deadline_ns) noexcept;
  /// Leaves a token and wakes the owner when it sleeps. One system call, or two when both are on one processor.
  void unpark() noexcept;

 private:
  /// What the state consists of. steering: a waker is binding the sleeper elsewhere; the sleeper stays until it has.
  enum : std::uint32_t { empty = 0, token = 1, parked = 2, steering = 4 };

  void sleep(std::int64_t deadline_ns) noexcept;
  void wait_for_token(std::int64_t deadline_ns) noexcept;
  void bind() noexcept;
  void unbind() noexcept;
  void steer_away() noexcept;

  atomic<std::uint32_t> state_{empty};
  // The sleeper's, released by [PK1].
  atomic<int> processor_{-1};  ///< which it is bound to; -1: to none
  atomic<pid_t> thread_{0};
  shared<cpu_set_t> allowed_{};  ///< its affinity mask before that
  shared<bool> steered_{};       ///< a waker's, released by [PK4]: it is bound to the other processors instead
  bool binds_ = false;           ///< for the thread that parks
};

}  // namespace filch::platform
