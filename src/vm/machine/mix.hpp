// Numbers that look like chance, of numbers.
#pragma once

#include <cstdint>

namespace filch::platform::vm {

/// splitmix64's finaliser.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t z) noexcept {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace filch::platform::vm
