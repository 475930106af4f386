// The platform seam on the virtual machine: time and pauses.
#pragma once

#include <cstdint>

#include "vm/world.hpp"

namespace filch::platform {

/// A look at the clock is free.
inline constexpr std::uint32_t pauses_per_look = 1;

/// As on the native platform, or none: programs that are explored have few pushes.
inline unsigned first_offers() noexcept { return vm::world::current()->first_offers(); }
/// As on the native platform, or a few steps or none.
inline std::uint64_t offer_rest_ticks() noexcept { return vm::world::current()->offer_rest_ticks(); }
/// As on the native platform, or half of them: programs that are explored have few tasks.
inline std::uint32_t taken_at_once(std::uint32_t wanted, std::uint32_t offered) noexcept {
  return vm::world::current()->taken_at_once(wanted, offered);
}

inline std::int64_t now_ns() noexcept { return vm::world::current()->now_ns(); }
inline void pause() noexcept { vm::world::current()->pause(); }
inline void yield() noexcept { vm::world::current()->yield(); }

}  // namespace filch::platform
