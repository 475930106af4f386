// Tasks that depend on each other: graphs and pipelines.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <filch/filch.hpp>
#include <filch/phaser.hpp>

#include "support.hpp"

namespace filch {
namespace {

class dependencies : public testing::TestWithParam<tests::configuration> {
 protected:
  scheduler pool_{GetParam().options()};
};

TEST_P(dependencies, random_graphs_run_in_order_again_and_again) {
  std::mt19937 random(7);
  for (const std::size_t n : {0, 1, 2, 50, 400}) {
    task_graph graph;
    std::vector<task_graph::node> nodes;
    std::vector<std::vector<std::size_t>> before(n);
    std::vector<std::atomic<int>> runs(n);
    int round = 0;
    std::atomic<int> too_early = 0;
    for (std::size_t i = 0; i != n; ++i) {
      std::vector<task_graph::node> after;
      for (std::size_t edges = random() % 4; i != 0 && edges != 0; --edges) {
        before[i].push_back(random() % i);
        after.push_back(nodes[before[i].back()]);
      }
      nodes.push_back(graph.add(
          [&, i] {
            for (const std::size_t j : before[i]) too_early += runs[j] != round ? 1 : 0;
            ++runs[i];
          },
          after));
    }
    for (round = 1; round <= 5; ++round) pool_.run([&] { graph.run(); });
    EXPECT_EQ(too_early, 0);
    for (const auto& each : runs) EXPECT_EQ(each, 5);
  }
}

TEST_P(dependencies, of_a_graph_the_first_exception_arrives_and_what_follows_is_skipped) {
  task_graph graph;
  std::atomic<int> ran = 0;
  const auto fails = graph.add([] { throw std::runtime_error("first"); });
  graph.add([] { throw std::logic_error("second"); });
  const auto skipped = graph.add([&] { ran += 100; }, {fails});
  graph.add([&] { ran += 100; }, {skipped});
  graph.add([&] { ++ran; });
  for (int round = 1; round <= 3; ++round) {
    EXPECT_THROW(pool_.run([&] { graph.run(); }), std::runtime_error);
    EXPECT_EQ(ran, round);
  }
}

TEST_P(dependencies, what_a_graph_has_skipped_runs_the_next_time) {
  task_graph graph;
  bool fails = true;
  std::atomic<int> ran = 0;
  const auto first = graph.add([&] {
    if (fails) throw std::runtime_error("in the first run");
  });
  const auto second = graph.add([&] { ++ran; }, {first});
  graph.add([&] { ++ran; }, {second});
  EXPECT_THROW(pool_.run([&] { graph.run(); }), std::runtime_error);
  EXPECT_EQ(ran, 0);
  fails = false;
  for (int round = 1; round <= 2; ++round) {
    pool_.run([&] { graph.run(); });
    EXPECT_EQ(ran, 2 * round);
  }
}

TEST_P(dependencies, a_long_row_of_tasks_needs_no_stack) {
  task_graph graph;
  long last = 0;
  auto previous = graph.add([] {});
  for (long i = 1; i <= 100'000; ++i)
    previous = graph.add([&last, i, only = std::make_unique<int>(1)] { last = i + *only - 1; }, {previous});
  pool_.run([&] { graph.run(); });
  EXPECT_EQ(last, 100'000);
}

TEST_P(dependencies, items_pass_all_stages_in_order_where_that_is_said) {
  for (const std::size_t most : {1, 2, 7, 64}) {
    constexpr int items = 3000;
    int given = 0;
    std::atomic<int> under_way = 0;
    std::atomic<int> most_under_way = 0;
    std::atomic<int> inside = 0;
    bool alone = true;
    std::vector<std::string> out;
    pool_.run([&] {
      pipeline(
          most,
          [&]() -> std::optional<int> {
            if (given == items) return std::nullopt;
            const int now = ++under_way;
            int seen = most_under_way;
            while (now > seen && !most_under_way.compare_exchange_weak(seen, now)) {
            }
            return given++;
          },
          [](int i) { return std::make_unique<int>(i); },  // which can only be moved
          serial([&](std::unique_ptr<int> i) {
            alone = ++inside == 1 && alone;
            --inside;
            return *i;
          }),
          parallel([](int i) { return std::to_string(i); }),
          serial_in_order([&](std::string s) { out.push_back(std::move(s)); }), [&](unit) { --under_way; });
    });
    ASSERT_EQ(out.size(), static_cast<std::size_t>(items));
    for (int i = 0; i != items; ++i) ASSERT_EQ(out[static_cast<std::size_t>(i)], std::to_string(i));
    EXPECT_TRUE(alone);
    EXPECT_LE(most_under_way, static_cast<int>(most));
    EXPECT_EQ(under_way, 0);
  }
}

TEST_P(dependencies, of_items_that_fail_the_first_is_told) {
  for (const int fails : {0, 1, 500}) {
    int given = 0;
    std::vector<int> out;
    try {
      pool_.run([&] {
        pipeline(
            8, [&]() -> std::optional<int> { return given++; }, parallel([&](int i) {
              if (i >= fails) throw std::runtime_error(std::to_string(i));
              return i;
            }),
            serial_in_order([&](int i) { out.push_back(i); }));
      });
      FAIL();
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), std::to_string(fails));
    }
    std::vector<int> expected(static_cast<std::size_t>(fails));
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(out, expected);
  }
  int given = 0;
  const auto source = [&]() -> std::optional<int> {
    if (given == 20) throw std::logic_error("the source");
    return given++;
  };
  std::atomic<int> passed = 0;
  EXPECT_THROW(pool_.run([&] { pipeline(4, source, [&](int) { ++passed; }); }), std::logic_error);
  EXPECT_EQ(passed, 20);
  EXPECT_THROW(pipeline(0, source), std::invalid_argument);
}

TEST_P(dependencies, stages_may_be_parallel_inside) {
  int given = 0;
  long sum = 0;
  pool_.run([&] {
    pipeline(
        4, [&]() -> std::optional<int> { return given == 40 ? std::nullopt : std::optional(given++); },
        [](int i) { return parallel_reduce(0, 1000, 0L, [i](int j) { return static_cast<long>(i) * j; }); },
        serial([&](long part) { sum += part; }));
  });
  EXPECT_EQ(sum, 780L * 499500);
}

// Where a task runs as soon as it is made, one for each item would run inside of the one before.
TEST(pipeline, behind_a_stage_that_gives_nothing_stages_may_take_nothing) {
  std::atomic<int> sum = 0;
  std::atomic<int> calls = 0;
  int left = 10;
  pipeline(
      4, [&] { return left > 0 ? std::optional(left--) : std::nullopt; }, [&](int i) { sum += i; }, [&] { ++calls; },
      serial([&](unit) { ++calls; }), serial_in_order([&] { ++calls; }));
  EXPECT_EQ(sum, 55);
  EXPECT_EQ(calls, 30);
}

TEST(pipeline, needs_no_more_stack_the_more_items_there_are) {
  scheduler pool({.workers = 1, .policy = "serial"});
  for (const std::size_t most : {1, 16, 100'000}) {
    int made = 0;
    int passed = 0;
    pool.run([&] {
      pipeline(
          most, [&]() -> std::optional<int> { return made == 300'000 ? std::nullopt : std::optional(made++); },
          [](int i) { return i; }, serial([](int i) { return i; }),
          serial_in_order([&](int i) { passed += i == passed; }));
    });
    EXPECT_EQ(passed, 300'000);
  }
}

INSTANTIATE_TEST_SUITE_P(unit, dependencies, testing::ValuesIn(tests::configurations({1, 2, 4})), tests::name_of);

TEST(task_graph, nodes_of_other_graphs_are_refused) {
  task_graph graph;
  task_graph other;
  const std::vector<task_graph::node> none(1);
  const task_graph::node own = graph.add([] {});
  const task_graph::node strange = other.add([] {});
  EXPECT_THROW(graph.add([] {}, none), std::invalid_argument);
  EXPECT_THROW(graph.add([] {}, {own, strange}), std::invalid_argument);
  EXPECT_THROW(graph.precede(strange, own), std::invalid_argument);
  EXPECT_THROW(graph.precede(own, {}), std::invalid_argument);
  EXPECT_EQ(graph.size(), 1U);
  graph.run();
}

TEST(task_graph, a_graph_that_moved_has_its_nodes) {
  scheduler pool({.workers = 2});
  std::vector<task_graph> graphs(2);
  int order = 0;
  const auto first = graphs[0].add([&] { order = 1; });
  graphs.emplace_back();  // and the others move
  task_graph graph = std::move(graphs[0]);
  graph.add([&] { order = order * 10 + 2; }, {first});
  EXPECT_EQ(graph.size(), 2U);
  pool.run([&] { graph.run(); });
  EXPECT_EQ(order, 12);

  EXPECT_EQ(graphs[0].size(), 0U);  // without tasks, as a new one
  EXPECT_THROW(graphs[0].precede(first, first), std::invalid_argument);
  graphs[0].run();
  graphs[0].add([&] { order = 3; });
  pool.run([&] { graphs[0].run(); });
  EXPECT_EQ(order, 3);
  EXPECT_THROW(graphs[0].add([] {}, {first}), std::invalid_argument);
}

TEST(task_graph, circles_are_refused) {
  task_graph graph;
  bool ran = false;
  graph.add([&] { ran = true; });
  const auto a = graph.add([] {});
  const auto b = graph.add([] {}, {a});
  graph.precede(b, a);
  EXPECT_THROW(graph.run(), std::logic_error);
  EXPECT_FALSE(ran);
}

TEST(phaser, who_has_no_memory_for_its_next_phase_leaves) {
  scheduler pool({.workers = 2});
  std::atomic<int> phases = 0;
  pool.run([&] {
    task_group group;
    phaser steps(2);
    std::atomic<int> holds_left = 2;
    const auto hold = [&](std::function<void()> f) -> detail::detached_task& {
      return detail::held_tasks::hold(group, std::move(f));
    };
    const auto hold_twice = [&](std::function<void()> f) -> detail::detached_task& {
      if (holds_left-- == 0) throw std::bad_alloc();
      return hold(std::move(f));
    };
    steps.add([](std::size_t /*phase*/) { return true; }, phaser_mode::signal_wait, hold_twice);
    steps.add([&](std::size_t phase) { return ++phases, phase != 5; }, phaser_mode::signal_wait, hold);
    EXPECT_THROW(group.wait(), std::bad_alloc);
  });
  EXPECT_EQ(phases, 6);
}

}  // namespace
}  // namespace filch
