// Work, span and branching depth as the analysing peer measures them, beside the same by definition.
#include "span.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include <filch/vm.hpp>
#include <filch/vm/simulation.hpp>

#include "analysing_peer.hpp"
#include "random_graph.hpp"

namespace filch::bench {
namespace {

using peer = analysing_peer;

computation measured(const std::function<void()>& program) {
  computation result;
  vm::machine_description machine = vm::load_machine("generic", MACHINES_FOLDER);
  machine.runtime.spawn_ns = 0;
  vm::simulation simulated(machine, 1, 1);
  simulated.run([&] {
    spawn.look_up();
    recorder.begin();
    program();
    result = recorder.measured();
  });
  return result;
}

void expect(const computation& of, double work_us, double span_us, std::uint64_t branching_depth) {
  constexpr double tiny = 1e-9;
  EXPECT_NEAR(of.work_s, work_us * 1e-6, tiny);
  EXPECT_NEAR(of.span_s, span_us * 1e-6, tiny);
  EXPECT_EQ(of.branching_depth, branching_depth);
}

void work_us(double us) { vm::charge(1000 * us); }

TEST(span, of_serial_code_is_its_work) {
  expect(measured([] { work_us(7); }), 7, 7, 0);
}

TEST(span, of_a_fork_is_that_of_its_longer_branch) {
  expect(measured([] {
           work_us(1);
           peer::fork_join([] { work_us(10); }, [] { work_us(4); });
           work_us(2);
         }),
         17, 13, 1);
}

TEST(span, forks_one_after_the_other_are_on_one_path) {
  expect(measured([] {
           for (int i = 0; i < 3; ++i) peer::fork_join([] { work_us(5); }, [] { work_us(6); });
         }),
         33, 18, 3);
}

// The path with most forks need not be the longest one.
TEST(span, branching_depth_has_a_path_of_its_own) {
  expect(measured([] {
           peer::fork_join([] { work_us(100); }, [] { peer::fork_join([] { work_us(1); }, [] { work_us(1); }); });
         }),
         102, 100, 2);
}

TEST(span, tasks_of_a_group_run_beside_what_follows_until_the_wait) {
  expect(measured([] {
           peer::group group;
           group.run([] { work_us(20); });
           work_us(3);
           group.run([] { work_us(8); });
           work_us(2);
           group.wait();
           work_us(1);
         }),
         34, 21, 2);
}

TEST(span, a_loop_is_halved_down_to_chunks) {
  // Sixteen chunks of a microsecond, and of several iterations.
  expect(measured([] { peer::for_each_index(64, [](std::uint64_t) { work_us(0.3); }); }), 19.2, 1.2, 4);
  // A grain makes them longer.
  expect(measured([] { peer::for_each_index(64, [](std::uint64_t) { work_us(0.3); }, 16); }), 19.2, 4.8, 2);
  // An iteration that forks is one by itself.
  expect(
      measured([] { peer::for_each_index(4, [](std::uint64_t) { peer::fork_join([] { work_us(0.125); }, [] {}); }); }),
      0.5, 0.125, 3);
  expect(measured([] { peer::for_each_index(0, [](std::uint64_t) {}); }), 0, 0, 0);
  expect(measured([] { peer::for_each_index(1, [](std::uint64_t) { work_us(5); }); }), 5, 5, 0);
}

TEST(span, a_reduction_is_a_loop) {
  const auto value = [](std::uint64_t i) {
    work_us(2);
    return i;
  };
  expect(measured([&] { EXPECT_EQ(peer::reduce(8, std::uint64_t{0}, value, std::plus<>()), 28U); }), 16, 2, 3);
}

TEST(span, rows_and_columns_are_halved) {
  constexpr std::size_t cells = std::size_t{64} * 32;
  std::vector<int> runs(cells);
  const auto body = [&](std::uint64_t row, std::uint64_t row_end, std::uint64_t column, std::uint64_t column_end) {
    work_us(1);
    for (std::uint64_t i = row; i < row_end; ++i) {
      for (std::uint64_t j = column; j < column_end; ++j) ++runs[i * 32 + j];
    }
  };
  expect(measured([&] { peer::for_each_block(64, 32, body); }), 8, 1, 3);
  EXPECT_TRUE(std::ranges::all_of(runs, [](int n) { return n == 1; }));
}

TEST(span, items_of_a_bag_are_one_fork_below_who_adds_them) {
  expect(measured([] {
           peer::for_each_dynamic(
               3,
               [](int item, const auto& push) {
                 work_us(1);
                 for (int i = 0; i < item; ++i) push(item - 1);
                 work_us(1);
               },
               sharing{});
         }),
         2 * (1 + 3 + 6 + 6), 5, 3);
}

// Two definitions of the same, one of which goes over the graph itself.
computation by_definition(const graph_part* part) {
  if (part == nullptr) return {};
  const computation left = by_definition(part->left.get());
  const computation right = by_definition(part->right.get());
  const computation next = by_definition(part->next.get());
  const std::uint64_t fork = part->left != nullptr ? 1 : 0;
  return {.work_s = part->work_ns * 1e-9 + left.work_s + right.work_s + next.work_s,
          .span_s = part->work_ns * 1e-9 + std::max(left.span_s, right.span_s) + next.span_s,
          .branching_depth = fork + std::max(left.branching_depth, right.branching_depth) + next.branching_depth};
}

TEST(span, of_random_graphs) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    graph_random random(seed);
    graph_instance graph(make_random_graph(300, 5000, random));
    const computation expected = by_definition(&graph.root());
    const computation found = measured([&] { graph.run(runner::analysed); });
    EXPECT_TRUE(graph.verify());
    constexpr double rounding_s = 1e-9;  // times are whole picoseconds
    EXPECT_NEAR(found.work_s, expected.work_s, rounding_s) << seed;
    EXPECT_NEAR(found.span_s, expected.span_s, rounding_s) << seed;
    EXPECT_EQ(found.branching_depth, expected.branching_depth) << seed;
  }
}

}  // namespace
}  // namespace filch::bench
