// The platform seam on the virtual machine: there is one process, which stays.
#pragma once

namespace filch::platform {

inline void call_in_children(void (* /*f*/)()) {}
inline void stay_loaded() noexcept {}

}  // namespace filch::platform
