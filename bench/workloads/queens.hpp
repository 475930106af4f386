// Queens on a board, for the workloads that place them.
#pragma once

#include <array>
#include <cstdint>

namespace filch::bench {

inline constexpr int most_queens = 18;

/// Ways to place n queens on an n x n board so that none attacks another: OEIS A000170, from n = 0.
inline constexpr std::array<std::uint64_t, most_queens + 1> known_solutions = {
    1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512, 95815104, 666090624};

/// The column of the queen of each row placed so far. A size that is copied in two vector moves.
struct board {
  std::array<std::int8_t, 32> columns;
};
static_assert(most_queens <= 32);

/// Whether a queen at that place is attacked by none of the rows above it.
inline bool is_safe(const board& placed, int row, int column) {
  for (int above = 0; above < row; ++above) {
    const int difference = placed.columns[above] - column;
    const int distance = row - above;
    if (difference == 0 || difference == distance || difference == -distance) return false;
  }
  return true;
}

}  // namespace filch::bench
