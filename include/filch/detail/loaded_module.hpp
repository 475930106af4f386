// A module, which is a program or a shared library, stays loaded if it may have tasks: a worker may be in the code of one
// when the last who waited for it has gone on, and in the destructor of what it captured.
#pragma once

#include <filch/config.hpp>

namespace filch::detail {

/// Afterwards dlclose() takes nothing away of the module that has that address.
FILCH_API void keep_loaded(const void* address) noexcept;

/// Of the module that its constructor's argument lies in.
struct stays_loaded {
  explicit stays_loaded(const void* address) noexcept { keep_loaded(address); }
};

// Hidden: each module has its own, and says so as it is loaded.
[[gnu::visibility("hidden")]] inline const char place_in_module = 0;
[[gnu::visibility("hidden")]] inline const stays_loaded this_module{&place_in_module};

}  // namespace filch::detail
