// The platform seam on the virtual machine: there is one process, which stays.
#pragma once

namespace filch::platform {

using process_id = int;

inline process_id this_process() noexcept { return 0; }

struct without_fork {
  static void prepare() noexcept {}
};

inline void call_in_children(void (* /*f*/)()) {}
inline void keep_loaded(const void* /*address*/) noexcept {}

}  // namespace filch::platform
