// The search that nqueens and nqueens_places have in common: one task for each valid place of a queen in a row.
#pragma once

#include <array>
#include <cstdint>
#include <numeric>

#include <filch/vm.hpp>

#include "parse_size.hpp"
#include "queens.hpp"
#include "serial_peer.hpp"

namespace filch::bench {

/// Price of one test of a place on the virtual machine.
inline vm::work queens_check("nqueens_check");

using queens_problem = size_with_cutoff;  // rows from the cut-off on are searched without forking

/// Columns of a row that no queen above attacks. Returns how many there are.
inline int safe_columns(const queens_problem& p, const board& placed, int row,
                        std::array<std::int8_t, most_queens>& columns) {
  int safe = 0;
  for (int column = 0; column < p.n; ++column) {
    if (is_safe(placed, row, column)) columns[safe++] = static_cast<std::int8_t>(column);
  }
  return safe;
}

/// What a serial search has found, and how many queens it has placed.
struct queens_found {
  std::uint64_t solutions = 0;
  std::uint64_t placed = 0;
};

/// As place_queen() below, but for the price, which is the caller's to pay.
inline void place_serially(const queens_problem& p, const board& parent, int row, int column, queens_found& found) {
  board placed = parent;
  placed.columns[row] = static_cast<std::int8_t>(column);
  ++found.placed;
  const int next_row = row + 1;
  if (next_row == p.n) {
    ++found.solutions;
    return;
  }
  std::array<std::int8_t, most_queens> columns;
  const int children = safe_columns(p, placed, next_row, columns);
  for (int i = 0; i < children; ++i) place_serially(p, placed, next_row, columns[i], found);
}

template <class Peer>
std::uint64_t count_queens_below(const queens_problem& p, const board& placed, int row);

/// Places a queen and counts the solutions that follow.
template <class Peer>
std::uint64_t place_queen(const queens_problem& p, const board& parent, int row, int column) {
  queens_check.done(p.n);  // what its children's places cost to find, and what the last row has none of, evenly
  board placed = parent;
  placed.columns[row] = static_cast<std::int8_t>(column);
  const int next_row = row + 1;
  if (next_row == p.n) return 1;
  if (next_row >= p.cutoff) return count_queens_below<serial_peer>(p, placed, next_row);
  return count_queens_below<Peer>(p, placed, next_row);
}

/// Counts the solutions that continue `placed`, whose rows above `row` are filled.
template <class Peer>
std::uint64_t count_queens_below(const queens_problem& p, const board& placed, int row) {
  std::array<std::int8_t, most_queens> columns;
  const int children = safe_columns(p, placed, row, columns);
  if (children == 0) return 0;
  std::array<std::uint64_t, most_queens> counts;
  typename Peer::group group;
  for (int i = 0; i < children; ++i) {
    group.run([&p, &placed, &count = counts[i], row, column = columns[i]] {
      count = place_queen<Peer>(p, placed, row, column);
    });
  }
  group.wait();
  return std::accumulate(counts.begin(), counts.begin() + children, std::uint64_t{0});
}

}  // namespace filch::bench
