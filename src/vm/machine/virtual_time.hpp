// Virtual time: whole picoseconds, so that sums do not depend on their order and runs repeat to the bit.
#pragma once

#include <cstdint>
#include <limits>

namespace filch::platform::vm {

using picoseconds = std::int64_t;

inline constexpr picoseconds never = std::numeric_limits<picoseconds>::max();

/// Rounded, of times that are not negative. (A call of lround would cost more than all else that a charge does.)
[[nodiscard]] constexpr picoseconds from_ns(double ns) noexcept {
  constexpr double half = 0.5;
  return static_cast<picoseconds>(ns * 1000.0 + half);
}

}  // namespace filch::platform::vm
