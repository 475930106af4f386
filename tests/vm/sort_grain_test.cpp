// A sort of few elements is shared where comparisons take long. All times are virtual.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <filch/filch.hpp>
#include <filch/vm.hpp>
#include <filch/vm/simulation.hpp>

#include "vm/machine/machine_file.hpp"

namespace filch {
namespace {

using sort = std::function<void(std::vector<int>& numbers, const std::function<bool(int, int)>& less)>;

constexpr double comparison_ns = 300;

/// What a sort of n numbers takes, in nanoseconds.
double sort_ns(int workers, int n, const sort& how, bool is_repeated = false) {
  platform::vm::machine_description machine = platform::vm::load_machine("generic", MACHINES_FOLDER);
  vm::simulation world(machine, 1, static_cast<unsigned>(workers));
  double took = 0;
  world.run([&] {
    scheduler pool({.workers = workers, .policy = is_repeated ? "constrained" : "standard"});
    pool.run([&] {
      std::vector<int> numbers(static_cast<std::size_t>(n));
      std::mt19937 random(1);
      for (int& each : numbers) each = static_cast<int>(random());
      const auto less = [](int x, int y) {
        vm::charge(comparison_ns);
        return x < y;
      };
      const double begin_s = vm::now_s();
      if (is_repeated) {
        repeated(1).run([&] { how(numbers, less); });
      } else {
        how(numbers, less);
      }
      took = (vm::now_s() - begin_s) * 1e9;
      EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
    });
  });
  return took;
}

void quick(std::vector<int>& numbers, const std::function<bool(int, int)>& less) {
  parallel_sort(numbers.begin(), numbers.end(), less);
}
void stable(std::vector<int>& numbers, const std::function<bool(int, int)>& less) {
  parallel_stable_sort(numbers.begin(), numbers.end(), less);
}

// The first partition, or the last merge, is one worker's: of nine levels or so, as much as two and more of them.
TEST(sort_grain, of_long_comparisons_is_shared_by_four_workers) {
  for (const sort& how : {sort(quick), sort(stable)}) {
    for (const int n : {200, 500, 1000}) EXPECT_LE(sort_ns(4, n, how), 0.6 * sort_ns(1, n, how)) << n;
  }
}

// The tasks of a repeated part are the same each time, whatever comparisons take in one of them.
TEST(sort_grain, in_a_repeated_part_does_not_depend_on_time) {
  for (const sort& how : {sort(quick), sort(stable)}) {
    EXPECT_GE(sort_ns(4, 1000, how, true), 0.98 * sort_ns(1, 1000, how, true));
  }
}

}  // namespace
}  // namespace filch
