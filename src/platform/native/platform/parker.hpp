// The platform seam: putting one thread to sleep and waking it again.
#pragma once

#include <cstdint>
#include <limits>

#include <sys/types.h>

#include <filch/platform/memory.hpp>

namespace filch::platform {

/// A binary token. `park` takes it, sleeping until there is one; `unpark` leaves it. An `unpark` that comes first is
/// not lost. One thread parks at a time; any thread unparks.
///
/// A kernel may put a woken thread onto the processor of the thread that woke it, although its own is idle (Linux in a
/// virtual machine does, when the host has descheduled the idle one); there one of the two waits for up to several
/// milliseconds. So a thread sleeps bound to the processor on which it fell asleep, and wakes up there; if the waker is
/// on that processor by then, it binds the sleeper to the others. Awake again, the thread may run wherever it could.
class parker {
 public:
  /// The first one notes where threads may run: nobody sleeps yet, bound to one processor.
  parker() noexcept;

  /// Takes the token, sleeping until somebody leaves one.
  void park() noexcept { park_until(std::numeric_limits<std::int64_t>::max()); }
  /// The same, but goes without one at that time of the clock (now_ns()), if not somewhat later.
  void park_until(std::int64_t deadline_ns) noexcept;
  /// Leaves a token and wakes the owner when it sleeps. One system call, or two when both are on one processor.
  void unpark() noexcept;

 private:
  /// steering: a waker is binding the sleeper elsewhere, and will leave the token next.
  enum : std::uint32_t { empty, token, parked, steering };

  void sleep(std::int64_t deadline_ns) noexcept;
  void steer_away(int here) const noexcept;

  atomic<std::uint32_t> state_{empty};
  atomic<int> processor_{-1};  ///< which the sleeper is bound to; -1: to none
  atomic<pid_t> thread_{0};    ///< the sleeper
};

}  // namespace filch::platform
