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

/// Fork() by any thread waits until nobody has one of these. For calls of libraries with locks of their own, which a child
/// process would wait for in vain. Not recursive.
class without_fork {
 public:
  /// To be called once, before.
  static void prepare();
  without_fork();
  ~without_fork();
  without_fork(const without_fork&) = delete;
  without_fork& operator=(const without_fork&) = delete;
};

/// The library, or program, that has something at that address is never unloaded by dlclose().
void keep_loaded(const void* address) noexcept;

}  // namespace filch::platform
