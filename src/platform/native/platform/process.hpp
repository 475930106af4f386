// The platform seam: this process as a whole.
#pragma once

#include <sys/types.h>

namespace filch::platform {

using process_id = pid_t;

/// Another one in a child process after fork().
process_id this_process() noexcept;

/// In each child process that begins by fork(), `f` is called before fork() returns there. For as long as this process
/// lives.
void call_in_children(void (*f)());

/// The library, or the program that contains it, is never unloaded: dlclose() of a plug-in that uses filch would take the
/// code of running threads away.
void stay_loaded() noexcept;

}  // namespace filch::platform
