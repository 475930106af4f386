// The platform seam: interrupting a thread, which then calls a function in the middle of whatever it is doing.
#pragma once

#include <sys/types.h>

namespace filch::platform {

/// A thread that can be interrupted.
using thread_id = pid_t;
inline constexpr thread_id no_thread = 0;

[[nodiscard]] thread_id current_thread() noexcept;

/// Threads that are interrupted call `handler` from now on, for as long as the process lives. It must do only what a
/// signal handler may. Uses SIGURG with SA_RESTART; signals of that number from elsewhere go to the handler that was
/// installed before.
/// @throws std::system_error when the system does not want to.
void handle_interrupts(void (*handler)() noexcept);

/// Lets the calling thread be interrupted even if whoever started it has blocked signals.
void accept_interrupts() noexcept;

/// Interrupts that thread; it may have ended. False: it could not be done.
bool interrupt(thread_id whom) noexcept;

}  // namespace filch::platform
