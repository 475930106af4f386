// The platform seam: being called when the program ends by exit().
#pragma once

namespace filch::platform {

/// `handler` is called with the exit status, on the thread that calls exit() or returns from main, before static objects
/// made so far are destroyed. @return false if there is no memory for it.
bool call_at_exit(void (*handler)(int status)) noexcept;

}  // namespace filch::platform
