// The numbers that a worker gives to what it begins: activations, loops and pieces, from one counter.
//
// They have as many bits as there is room for in a task's state, and then begin again. So which of two came first is known
// while fewer than half of all were given in between: what lasts longer than that (at 100 ns for each number ten days) may be
// mistaken for what began later.
#pragma once

#include <cstdint>

namespace filch::detail {

inline constexpr unsigned id_bits = 44;
inline constexpr std::uint64_t id_mask = (std::uint64_t{1} << id_bits) - 1;

/// 0 is nobody's.
[[nodiscard]] inline std::uint64_t number_after(std::uint64_t newest) noexcept {
  const std::uint64_t next = (newest + 1) & id_mask;
  return next != 0 ? next : 1;
}

/// Did what has that number begin after what has the other one? All did after number 0.
[[nodiscard]] inline bool began_after(std::uint64_t number, std::uint64_t other) noexcept {
  return other == 0 || ((number - other - 1) & id_mask) < id_mask / 2;
}

}  // namespace filch::detail
