// nqueens_loop and nqueens_reduce: nqueens as loops over the columns of a row, one inside of the other as deep as the
// board.
//
// `nqueens_loop` is Algorithm 2 of the lazy-scheduling paper (Tzannes and others 2014): each iteration tests one column
// and, where it is safe, goes on to the next row; solutions are counted by one atomic counter. In `nqueens_reduce` they
// are summed up by the loops instead. "n" is declarative, with as many tasks as there are tests; with "n/d" the rows
// from d on are serial code (the paper's coarse version has d = n/2).
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

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

using problem = size_with_cutoff;
using counter = std::atomic<std::uint64_t>;

board with_queen(const board& placed, int row, int column) {
  board more = placed;
  more.columns[row] = static_cast<std::int8_t>(column);
  return more;
}

// Adds the solutions that continue `placed`, whose rows above `row` are filled.
template <class Peer>
void add_below(const problem& p, const board& placed, int row, counter& solutions) {
  Peer::for_each_index(static_cast<std::uint64_t>(p.n), [&p, &placed, &solutions, row](std::uint64_t i) {
    const int column = static_cast<int>(i);
    check.done();
    if (!is_safe(placed, row, column)) return;
    const int next_row = row + 1;
    if (next_row == p.n) {
      vm::touch(&solutions, sizeof solutions, true);
      solutions.fetch_add(1, std::memory_order_relaxed);  // read after the loop, which orders it
    } else if (next_row >= p.cutoff) {
      add_below<serial_peer>(p, with_queen(placed, row, column), next_row, solutions);
    } else {
      add_below<Peer>(p, with_queen(placed, row, column), next_row, solutions);
    }
  });
}

// The number of solutions that continue `placed`.
template <class Peer>
std::uint64_t count_below(const problem& p, const board& placed, int row) {
  const auto count_from = [&p, &placed, row](std::uint64_t i) -> std::uint64_t {
    const int column = static_cast<int>(i);
    check.done();
    if (!is_safe(placed, row, column)) return 0;
    const int next_row = row + 1;
    if (next_row == p.n) return 1;
    const board more = with_queen(placed, row, column);
    return next_row >= p.cutoff ? count_below<serial_peer>(p, more, next_row) : count_below<Peer>(p, more, next_row);
  };
  return Peer::reduce(static_cast<std::uint64_t>(p.n), std::uint64_t{0}, count_from, std::plus<>());
}

enum class counting { atomic, reduced };

template <class Peer>
std::uint64_t count(const problem& p, counting how) {
  if (how == counting::reduced) return count_below<Peer>(p, board{}, 0);
  counter solutions{0};
  add_below<Peer>(p, board{}, 0, solutions);
  return solutions.load(std::memory_order_relaxed);
}

class nqueens_loop_instance final : public instance {
 public:
  nqueens_loop_instance(problem p, counting how) : problem_(p), how_(how) {}

  void prepare() override { solutions_.reset(); }

  void run(runner on) override {
    check.look_up();
    solutions_ = with_peer(on, [&]<class Peer>() { return count<Peer>(problem_, how_); });
  }

  std::string result() const override { return fmt::to_string(solutions_.value_or(0)); }
  bool verify() const override { return solutions_ == known_solutions[problem_.n]; }

  std::uint64_t tasks() const override {
    if (!tasks_) tasks_ = count_tasks([&] { count<counting_peer>(problem_, how_); });
    return *tasks_;
  }

 private:
  problem problem_;
  counting how_;
  std::optional<std::uint64_t> solutions_;
  mutable std::optional<std::uint64_t> tasks_;  // counted when first asked for
};

workload make_workload(std::string name, std::string summary, counting how) {
  auto make = [name, how](std::string_view size) -> std::unique_ptr<instance> {
    const size_context context{name, size, "13"};
    return std::make_unique<nqueens_loop_instance>(parse_with_cutoff(context, 1, most_queens), how);
  };
  return {std::move(name), std::move(summary), "13", {"10", "12", "13", "13/6", "14", "14/7"}, std::move(make), "9"};
}

}  // namespace

workload nqueens_loop_workload() {
  return make_workload("nqueens_loop", "nqueens as nested loops, counted by an atomic; n/d: serial from row d on",
                       counting::atomic);
}

workload nqueens_reduce_workload() {
  return make_workload("nqueens_reduce", "nqueens as nested reductions; n/d: serial from row d on", counting::reduced);
}

}  // namespace filch::bench
