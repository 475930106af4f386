// Constrained work stealing: which worker runs which task of a repeated part. The expectation is what the test itself has
// seen in the last iteration that was recorded; strict iterations must repeat that exactly, whatever the timing.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filch/filch.hpp>
#include <filch/platform/work.hpp>
#include <filch/vm/simulation.hpp>

#include "run_on.hpp"

namespace filch::vm {
namespace {

enum class construct : std::uint8_t { fork, group, group_with_total, two_groups, group_in_group, last };

/// A task of a made-up program: its children are those of one construct.
struct task {
  construct how{};
  std::vector<task> children;
  std::size_t id = 0;
  std::size_t parent = 0;
};

task make_task(std::mt19937_64& dice, int depth, std::size_t parent, std::size_t& ids) {
  const auto draw = [&](int below) { return std::uniform_int_distribution(0, below - 1)(dice); };
  task made;
  made.id = ids++;
  made.parent = parent;
  if (depth == 0 || draw(8) == 0) return made;
  made.how = static_cast<construct>(draw(static_cast<int>(construct::last)));
  const int count = made.how == construct::fork ? 2 : 1 + draw(5);
  for (int i = 0; i < count; ++i) made.children.push_back(make_task(dice, depth - 1, made.id, ids));
  return made;
}

/// One iteration of such a program: who has run each task, and how often.
class iteration {
 public:
  /// Tasks take so many times their usual time, which is drawn by `seed`.
  iteration(const task& root, std::size_t tasks, double times, std::uint64_t seed)
      : owners_(tasks, -1), parents_(tasks), runs_(tasks), times_(times), seed_(seed) {
    run(root);
  }
  [[nodiscard]] const std::vector<int>& owners() const { return owners_; }
  [[nodiscard]] bool ran_once() const {
    return std::all_of(runs_.begin(), runs_.end(), [](int runs) { return runs == 1; });
  }
  /// Tasks and branches that another worker has run than their parents.
  [[nodiscard]] std::uint64_t moved() const {
    std::uint64_t count = branches_moved_;
    for (std::size_t i = 0; i < owners_.size(); ++i) count += owners_[i] != owners_[parents_[i]] ? 1 : 0;
    return count;
  }

 private:
  void run(const task& t) {
    owners_[t.id] = this_worker();
    parents_[t.id] = t.parent;
    ++runs_[t.id];
    platform::charge(times_ * static_cast<double>(1000 + (t.id * seed_) % 7 * 3000));
    if (t.children.empty()) return;
    const auto& c = t.children;
    switch (t.how) {
      case construct::fork:
        fork_join([&] { run(c[0]); }, [&] { run(c[1]); });
        break;
      case construct::group: {
        task_group g;
        for (const task& child : c) g.run([&] { run(child); });
        g.wait();
        break;
      }
      case construct::group_with_total: {
        task_group g(static_cast<double>(c.size()));
        for (const task& child : c) g.run([&] { run(child); }, 1);
        g.wait();
        break;
      }
      case construct::two_groups: {
        task_group even;
        task_group odd;
        for (std::size_t i = 0; i < c.size(); ++i) (i % 2 == 0 ? even : odd).run([&, i] { run(c[i]); });
        even.wait();
        odd.wait();
        break;
      }
      case construct::group_in_group:
      case construct::last: {
        // A closure that does not fit into a slot, and tasks that a branch adds to the group around it.
        task_group g;
        const std::vector<int> large(1);
        fork_join(
            [&] {
              for (const task& child : c) {
                g.run([this, large, &child] { run(child); });
              }
            },
            [&] { branches_moved_ += this_worker() != owners_[t.id] ? 1 : 0; });
        g.wait();
        break;
      }
    }
  }

  std::vector<int> owners_;
  std::vector<std::size_t> parents_;
  std::vector<int> runs_;
  std::uint64_t branches_moved_ = 0;  ///< of those that are no tasks
  double times_;
  std::uint64_t seed_;
};

class constrained : public testing::TestWithParam<int> {};

TEST_P(constrained, strict_iterations_repeat_the_last_recorded_one) {
  const int workers = GetParam();
  std::uint64_t moved = 0;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    std::mt19937_64 dice(seed);
    std::size_t ids = 0;
    const task root = make_task(dice, 7, 0, ids);
    const auto relaxed = static_cast<unsigned>(seed % 3);
    run_on(workers, "constrained", [&](scheduler& pool) {
      repeated step(relaxed);
      std::vector<int> expected;
      std::uint64_t given = 0;
      for (unsigned i = 0; i < relaxed + 4; ++i) {
        const statistics before = pool.stats();
        // Time is another in each iteration.
        const auto now = step.run([&] { return iteration(root, ids, 1, seed + i); });
        const statistics after = pool.stats();
        ASSERT_TRUE(now.ran_once()) << "seed " << seed << ", iteration " << i;
        if (i <= relaxed) {
          expected = now.owners();
          given = now.moved();
          continue;
        }
        ASSERT_EQ(now.owners(), expected) << "seed " << seed << ", iteration " << i;
        ASSERT_EQ(after.steals + after.leaps, before.steals + before.leaps);
        ASSERT_EQ(after.migrations - before.migrations, given);
      }
      moved += given;
    });
  }
  EXPECT_GT(moved, 0U) << "nothing was stolen, so nothing was shown";
}

INSTANTIATE_TEST_SUITE_P(workers, constrained, testing::Values(2, 4, 7, 16));

/// A tree of forks: 2^depth leaves, each of so many nanoseconds.
void run_tree(int depth, double leaf_ns) {
  if (depth == 0) return platform::charge(leaf_ns);
  fork_join([&] { run_tree(depth - 1, leaf_ns); }, [&] { run_tree(depth - 1, leaf_ns); });
}

// What is stolen in a relaxed iteration belongs to the trace from then on.
TEST(constrained_stealing, extends_the_trace_in_relaxed_iterations) {
  run_on(8, "constrained", [](scheduler& pool) {
    std::mt19937_64 dice(5);
    std::size_t ids = 0;
    const task root = make_task(dice, 8, 0, ids);
    repeated step(1);
    // So fast that little is stolen; then slow.
    const auto first = step.run([&] { return iteration(root, ids, 0.001, 1); });
    const auto second = step.run([&] { return iteration(root, ids, 1, 1); });
    const auto third = step.run([&] { return iteration(root, ids, 1, 1); });
    EXPECT_GT(second.moved(), first.moved());
    EXPECT_EQ(third.owners(), second.owners());
    EXPECT_GT(pool.stats().migrations, 0U);
  });
}

// A computation that is another one than the trace is of.
TEST(constrained_stealing, knows_tasks_by_their_paths_alone) {
  run_on(7, "constrained", [](scheduler&) {
    std::size_t ids = 0;
    repeated step(1);
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      std::mt19937_64 dice(seed);
      ids = 0;
      const task root = make_task(dice, 7, 0, ids);
      for (int i = 0; i < 2; ++i) ASSERT_TRUE(step.run([&] { return iteration(root, ids, 1, seed); }).ran_once());
    }
    step.forget();
    std::mt19937_64 dice(3);
    ids = 0;
    const task root = make_task(dice, 7, 0, ids);
    std::vector<int> expected;
    for (int i = 0; i < 4; ++i) {
      const auto now = step.run([&] { return iteration(root, ids, 1, 1); });
      if (i > 1) {
        EXPECT_EQ(now.owners(), expected);
      }
      expected = now.owners();
    }
  });
}

// Two branches of a tree wait for tasks that were given to the worker of the other one.
TEST(constrained_stealing, ends_where_workers_wait_for_each_other) {
  for (const int workers : {2, 3, 5}) {
    run_on(workers, "constrained", [](scheduler&) {
      repeated step(2);
      for (int i = 0; i < 8; ++i) {
        step.run([&] {
          // Which tasks are long changes, so that the order in which workers come by is another one.
          fork_join([&] { run_tree(4, i % 2 == 0 ? 20'000 : 500); }, [&] { run_tree(4, i % 2 != 0 ? 20'000 : 500); });
        });
      }
    });
  }
}

// Loops of a strict iteration are shared all the same.
TEST(constrained_stealing, shares_loops_in_strict_iterations) {
  run_on(4, "constrained", [](scheduler&) {
    repeated step(0);
    for (int i = 0; i < 3; ++i) {
      std::vector<int> owners(64, -1);
      step.run([&] {
        fork_join(
            [&] {
              parallel_for(0, 64, [&](int at) {
                owners[static_cast<std::size_t>(at)] = this_worker();
                fork_join([] { platform::charge(10'000); }, [] { platform::charge(10'000); });
              });
            },
            [] {});
      });
      std::sort(owners.begin(), owners.end());
      EXPECT_GE(owners.front(), 0);
      EXPECT_NE(owners.front(), owners.back()) << "iteration " << i;
    }
  });
}

// What following a trace costs: a tree of tasks of 5 us.
TEST(constrained_scale, a_balanced_tree) {
  constexpr int depth = 12;
  constexpr double leaf_ns = 5000;
  for (const int workers : {7, 16, 64}) {
    run_on(workers, "constrained", [&](scheduler&) {
      repeated step(2);
      std::string shares;
      double least = 1;
      for (int i = 0; i < 5; ++i) {
        const double begin_s = now_s();
        step.run([] { run_tree(depth, leaf_ns); });
        const double share = (1 << depth) * leaf_ns * 1e-9 / ((now_s() - begin_s) * workers);
        shares += " " + std::to_string(share);
        least = std::min(least, share);
      }
      std::cout << workers << " workers:" << shares << '\n';
      EXPECT_GE(least, 0.4) << workers;
    });
  }
}

}  // namespace
}  // namespace filch::vm
