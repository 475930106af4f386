// Every task runs exactly once, by identity, whatever the policy, the join and the number of workers.
#include <cstddef>
#include <memory>

#include <gtest/gtest.h>

#include "support.hpp"

namespace filch {
namespace {

using tests::account;

class identity : public testing::TestWithParam<tests::configuration> {};

/// A binary tree of fork_joins whose leaves are the tasks [first, last).
void fork_leaves(account& tasks, std::size_t first, std::size_t last) {
  if (last - first == 1) {
    tasks.ran(first);
    return;
  }
  const std::size_t middle = first + (last - first) / 2;
  fork_join([&, first, middle] { fork_leaves(tasks, first, middle); },
            [&, middle, last] { fork_leaves(tasks, middle, last); });
}

/// The same, leaning to one side: long chains of pending tasks.
void fork_chain(account& tasks, std::size_t first, std::size_t last) {
  if (first == last) return;
  fork_join([&, first, last] { fork_chain(tasks, first + 1, last); }, [&, first] { tasks.ran(first); });
}

/// A group per node, with as many tasks as the node has children.
void spawn_leaves(account& tasks, std::size_t first, std::size_t last) {
  constexpr std::size_t children = 5;
  if (last - first <= children) {
    for (std::size_t i = first; i < last; ++i) tasks.ran(i);
    return;
  }
  task_group group;
  const std::size_t step = (last - first + children - 1) / children;
  for (std::size_t at = first; at < last; at += step) {
    group.run([&tasks, at, end = at + step < last ? at + step : last] { spawn_leaves(tasks, at, end); });
  }
  group.wait();
}

/// Everything mixed, with one outer group that all levels add to.
void mix(account& tasks, task_group& outer, std::size_t first, std::size_t last) {
  if (last - first < 4) {
    for (std::size_t i = first; i < last; ++i) outer.run([&tasks, i] { tasks.ran(i); });
    return;
  }
  const std::size_t middle = first + (last - first) / 2;
  const std::size_t quarter = first + (middle - first) / 2;
  fork_join(
      [&] {
        task_group inner;
        inner.run([&, first, quarter] { mix(tasks, outer, first, quarter); });
        inner.run([&, quarter, middle] { fork_leaves(tasks, quarter, middle); });
        inner.wait();
      },
      [&] { mix(tasks, outer, middle, last); });
}

TEST_P(identity, tree_of_forks) {
  scheduler s(GetParam().options());
  tests::until_stolen(s, 10, [&] {
    account tasks(10'000);
    s.run([&] { fork_leaves(tasks, 0, tasks.size()); });
    ASSERT_EQ(tasks.first_not(1), tasks.size());
  });
}

TEST_P(identity, chain_of_forks) {
  scheduler s(GetParam().options());
  tests::until_stolen(s, 20, [&] {
    account tasks(500);
    s.run([&] { fork_chain(tasks, 0, tasks.size()); });
    ASSERT_EQ(tasks.first_not(1), tasks.size());
  });
}

TEST_P(identity, tree_of_groups) {
  scheduler s(GetParam().options());
  tests::until_stolen(s, 10, [&] {
    account tasks(10'000);
    s.run([&] { spawn_leaves(tasks, 0, tasks.size()); });
    ASSERT_EQ(tasks.first_not(1), tasks.size());
  });
}

TEST_P(identity, one_group_of_many) {
  scheduler s(GetParam().options());
  tests::until_stolen(s, 10, [&] {
    account tasks(5'000);
    s.run([&] {
      task_group group;
      for (std::size_t i = 0; i < tasks.size(); ++i) group.run([&tasks, i] { tasks.ran(i); });
      group.wait();
    });
    ASSERT_EQ(tasks.first_not(1), tasks.size());
  });
}

TEST_P(identity, everything_mixed_with_an_outer_group) {
  scheduler s(GetParam().options());
  tests::until_stolen(s, 5, [&] {
    account tasks(4'000);
    s.run([&] {
      task_group outer;
      mix(tasks, outer, 0, tasks.size());
      outer.wait();
    });
    ASSERT_EQ(tasks.first_not(1), tasks.size());
  });
}

TEST_P(identity, small_stacks_that_wrap_and_fill) {
  auto options = GetParam().options();
  options.stack_bytes = 4096;
  scheduler s(options);
  tests::until_stolen(s, 10, [&] {
    account chain(300);
    account group(2'000);
    s.run([&] {
      fork_chain(chain, 0, chain.size());
      spawn_leaves(group, 0, group.size());
    });
    ASSERT_EQ(chain.first_not(1), chain.size());
    ASSERT_EQ(group.first_not(1), group.size());
  });
}

TEST_P(identity, a_group_on_the_heap) {
  scheduler s(GetParam().options());
  tests::until_stolen(s, 5, [&] {
    account tasks(3'000);
    s.run([&] {
      const auto group = std::make_unique<task_group>();
      for (std::size_t i = 0; i < tasks.size(); i += 3) {
        group->run([&tasks, i, &g = *group] {
          tasks.ran(i);
          g.run([&tasks, i] { fork_leaves(tasks, i + 1, i + 3); });
        });
      }
      group->wait();
    });
    ASSERT_EQ(tasks.first_not(1), tasks.size());
  });
}

INSTANTIATE_TEST_SUITE_P(stress, identity, testing::ValuesIn(tests::configurations({1, 2, 3, 4, 8, 16})),
                         tests::name_of);

}  // namespace
}  // namespace filch
