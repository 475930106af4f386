// What the C++ runtime keeps of exceptions for each thread (Itanium C++ ABI, section 2.2.2), for every platform.
#pragma once

#include <cxxabi.h>

namespace filch::platform {

struct exception_globals {
  void* caught;
  unsigned int uncaught;  ///< in flight: std::uncaught_exceptions() without the call
};

/// Of the calling thread. Stays where it is as long as the thread lives.
inline exception_globals& exceptions_of_this_thread() noexcept {
  return *reinterpret_cast<exception_globals*>(abi::__cxa_get_globals());
}

}  // namespace filch::platform
