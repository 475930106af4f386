// nqueens_places: nqueens at places. Each queen above the cut-off is placed by a task that may run at any place and
// captures the board; below it the search is serial. Workers add up what they find, each for itself.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <filch/filch.hpp>
#include <filch/places.hpp>

#include "catalogue.hpp"
#include "counting_peer.hpp"
#include "parse_size.hpp"
#include "place_tasks.hpp"
#include "queens.hpp"
#include "queens_search.hpp"

namespace filch::bench {
namespace {

/// What Kumar and others have (2016).
constexpr int usual_cutoff = 6;

/// What the task of a task farm has placed with which it begins.
constexpr std::int8_t before_first_row = -1;

/// A task.
struct placed_queen {
  board parent;
  std::int8_t row;
  std::int8_t column;
  void operator()() const;
};

class nqueens_places_instance final : public instance {
 public:
  explicit nqueens_places_instance(queens_problem p) : problem_(p) {}

  void prepare() override { solutions_.reset(); }

  void run(runner on) override {
    queens_check.look_up();
    if (on != runner::filch) {
      solutions_ = count_queens_below<serial_peer>(problem_, board{}, 0);
      return;
    }
    place_task.look_up();
    found_.assign(static_cast<std::size_t>(places::workers()), {});
    places::own_pointer() = this;
    places::finish_spmd([&] {
      if (places::here() == 0) place_next(board{}, 0, [](const placed_queen& next) { spawn_anywhere(next); });
    });
    std::uint64_t here = 0;
    for (const own_line<std::uint64_t>& each : found_) here += each.value;
    solutions_ = places::all_reduce(here, std::plus<>());
  }

  std::string result() const override { return fmt::to_string(solutions_.value_or(0)); }
  bool verify() const override { return solutions_ == known_solutions[problem_.n]; }

  std::uint64_t tasks() const override {
    if (!tasks_) tasks_ = count_tasks([&] { count_queens_below<counting_peer>(problem_, board{}, 0); });
    return *tasks_;
  }

  void run_on(task_farm& farm) override {
    std::array solutions{std::uint64_t{0}};
    run_tasks(farm, placed_queen{board{}, before_first_row, 0}, [&](const placed_queen& queen) {
      solutions[0] += place(queen, [&](const placed_queen& next) { add_task(farm, next); });
    });
    farm.combine(solutions, {});
    solutions_ = solutions[0];
  }

  /// A worker of this place places that queen, and all that may follow.
  void place_here(const placed_queen& queen) {
    const std::uint64_t found = place(queen, [](const placed_queen& next) { spawn_anywhere(next); });
    found_[static_cast<std::size_t>(filch::this_worker())].value += found;
  }

 private:
  /// Calls give(queen) for those that become tasks. Returns the solutions that it found itself.
  template <class Give>
  std::uint64_t place(const placed_queen& queen, const Give& give) {
    const int next_row = queen.row + 1;
    if (next_row == problem_.n || (next_row != 0 && next_row >= problem_.cutoff)) {
      queens_found found;
      place_serially(problem_, queen.parent, queen.row, queen.column, found);
      // At once: nobody sees anything of it earlier.
      queens_check.done(static_cast<double>(problem_.n) * static_cast<double>(found.placed));
      return found.solutions;
    }
    queens_check.done(problem_.n);  // as place_queen() does
    board placed = queen.parent;
    if (next_row != 0) placed.columns[queen.row] = queen.column;
    place_next(placed, next_row, give);
    return 0;
  }

  template <class Give>
  void place_next(const board& placed, int row, const Give& give) {
    std::array<std::int8_t, most_queens> columns;
    const int children = safe_columns(problem_, placed, row, columns);
    for (int i = 0; i < children; ++i) give(placed_queen{placed, static_cast<std::int8_t>(row), columns[i]});
  }

  queens_problem problem_;
  std::vector<own_line<std::uint64_t>> found_;  // solutions, by worker
  std::optional<std::uint64_t> solutions_;
  mutable std::optional<std::uint64_t> tasks_;  // counted when first asked for
};

void placed_queen::operator()() const {
  static_cast<nqueens_places_instance*>(places::own_pointer())->place_here(*this);
}

std::unique_ptr<instance> make_nqueens_places(std::string_view size) {
  queens_problem p = parse_with_cutoff({"nqueens_places", size, "12"}, 1, most_queens);
  if (size.find('/') == std::string_view::npos) p.cutoff = std::min(p.n, usual_cutoff);
  return std::make_unique<nqueens_places_instance>(p);
}

}  // namespace

workload nqueens_places_workload() {
  return {"nqueens_places",
          "nqueens at places; serial below row 6, or below row d in n/d",
          "12",
          {"8", "10", "12", "14", "18", "12/4"},
          make_nqueens_places,
          "11",
          true,
          true};
}

}  // namespace filch::bench
