// nqueens: the number of ways to place n queens on an n x n board so that none attacks another.
//
// Each task places one queen and spawns one task for each column of the next row that is not attacked. Nothing is
// shared but the parent's board, which its children copy; each child's count goes to its own cell of the parent's
// frame, so no atomics are needed. Size "n/d" stops spawning below row d.
#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include <filch/vm.hpp>

#include "catalogue.hpp"
#include "counting_peer.hpp"
#include "parse_size.hpp"
#include "queens.hpp"
#include "with_peer.hpp"

namespace filch::bench {
namespace {

vm::work check("nqueens_check");

using problem = size_with_cutoff;  // rows from the cut-off on are searched without forking

template <class Peer>
std::uint64_t count_below(const problem& p, const board& placed, int row);

// Places a queen and counts the solutions that follow.
template <class Peer>
std::uint64_t place(const problem& p, const board& parent, int row, int column) {
  check.done(p.n);  // what its children's places cost to find, and what the last row has none of, evenly
  board placed = parent;
  placed.columns[row] = static_cast<std::int8_t>(column);
  const int next_row = row + 1;
  if (next_row == p.n) return 1;
  if (next_row >= p.cutoff) return count_below<serial_peer>(p, placed, next_row);
  return count_below<Peer>(p, placed, next_row);
}

// Counts the solutions that continue `placed`, whose rows above `row` are filled.
template <class Peer>
std::uint64_t count_below(const problem& p, const board& placed, int row) {
  std::array<std::int8_t, most_queens> columns;
  int children = 0;
  for (int column = 0; column < p.n; ++column) {
    if (is_safe(placed, row, column)) columns[children++] = static_cast<std::int8_t>(column);
  }
  if (children == 0) return 0;
  std::array<std::uint64_t, most_queens> counts;
  typename Peer::group group;
  for (int i = 0; i < children; ++i) {
    group.run(
        [&p, &placed, &count = counts[i], row, column = columns[i]] { count = place<Peer>(p, placed, row, column); });
  }
  group.wait();
  return std::accumulate(counts.begin(), counts.begin() + children, std::uint64_t{0});
}

class nqueens_instance final : public instance {
 public:
  explicit nqueens_instance(problem p) : problem_(p) {}

  void prepare() override { solutions_.reset(); }

  void run(runner on) override {
    check.look_up();
    solutions_ = with_peer(on, [&]<class Peer>() { return count_below<Peer>(problem_, board{}, 0); });
  }

  std::string result() const override { return fmt::to_string(solutions_.value_or(0)); }
  bool verify() const override { return solutions_ == known_solutions[problem_.n]; }

  std::uint64_t tasks() const override {
    if (!tasks_) tasks_ = count_tasks([&] { count_below<counting_peer>(problem_, board{}, 0); });
    return *tasks_;
  }

 private:
  problem problem_;
  std::optional<std::uint64_t> solutions_;
  mutable std::optional<std::uint64_t> tasks_;  // counted when first asked for
};

std::unique_ptr<instance> make_nqueens(std::string_view size) {
  const size_context context{"nqueens", size, "12"};
  return std::make_unique<nqueens_instance>(parse_with_cutoff(context, 1, most_queens));
}

}  // namespace

workload nqueens_workload() {
  return {"nqueens",    "ways to place n queens, one task per valid child; n/d: no tasks below row d",
          "12",         {"8", "10", "12", "14", "12/4"},
          make_nqueens, "11"};
}

}  // namespace filch::bench
