// nqueens: the number of ways to place n queens on an n x n board so that none attacks another.
//
// Each task places one queen and spawns one task for each column of the next row that is not attacked. Nothing is
// shared but the parent's board, which its children copy; each child's count goes to its own cell of the parent's
// frame, so no atomics are needed. Size "n/d" stops spawning below row d.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "catalogue.hpp"
#include "counting_peer.hpp"
#include "parse_size.hpp"
#include "queens.hpp"
#include "queens_search.hpp"
#include "with_peer.hpp"

namespace filch::bench {
namespace {

class nqueens_instance final : public instance {
 public:
  explicit nqueens_instance(queens_problem p) : problem_(p) {}

  void prepare() override { solutions_.reset(); }

  void run(runner on) override {
    queens_check.look_up();
    solutions_ = with_peer(on, [&]<class Peer>() { return count_queens_below<Peer>(problem_, board{}, 0); });
  }

  std::string result() const override { return fmt::to_string(solutions_.value_or(0)); }
  bool verify() const override { return solutions_ == known_solutions[problem_.n]; }

  std::uint64_t tasks() const override {
    if (!tasks_) tasks_ = count_tasks([&] { count_queens_below<counting_peer>(problem_, board{}, 0); });
    return *tasks_;
  }

 private:
  queens_problem problem_;
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
