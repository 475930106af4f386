// The platform seam, part three, on the virtual machine: a tick is a nanosecond.
#pragma once

#include <cstdint>

#include "vm/world.hpp"

namespace filch::platform {

inline std::uint64_t ticks() noexcept { return static_cast<std::uint64_t>(vm::world::current()->now_ns()); }
inline std::uint64_t passed_tick() noexcept { return vm::world::current()->passed_tick(); }
inline std::uint64_t ticks_of_some_us() noexcept { return 5'000; }
inline std::uint64_t ticks_of_a_theft() noexcept { return 625; }

}  // namespace filch::platform
