// Waiting is safe: locks held across joins, deep recursion, and no task that does not belong to the awaited one.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <pthread.h>

#include "support.hpp"

namespace filch {
namespace {

class waiting : public testing::TestWithParam<tests::configuration> {};

long work(int n) {
  if (n < 2) return n;
  const auto [a, b] = fork_join([=] { return work(n - 1); }, [=] { return work(n - 2); });
  return a + b;
}

/// Every task wants the lock and forks while it holds it. A waiter that ran one of the others would wait for itself.
void lock_and_fork(std::mutex& mutex, tests::account& tasks, std::size_t first, std::size_t last) {
  if (last - first == 1) {
    const std::lock_guard lock(mutex);
    fork_join([] { work(6); }, [] { work(6); }, [] { work(6); });
    tasks.ran(first);
    return;
  }
  const std::size_t middle = first + (last - first) / 2;
  fork_join([&, first, middle] { lock_and_fork(mutex, tasks, first, middle); },
            [&, middle, last] { lock_and_fork(mutex, tasks, middle, last); });
}

TEST_P(waiting, a_lock_held_across_fork_join_that_every_other_task_wants) {
  scheduler s(GetParam().options());
  tests::until_stolen(s, 10, [&] {
    std::mutex mutex;
    tests::account tasks(200);
    s.run([&] { lock_and_fork(mutex, tasks, 0, tasks.size()); });
    ASSERT_EQ(tasks.first_not(1), tasks.size());
  });
}

TEST_P(waiting, a_lock_held_across_the_wait_of_a_group_that_every_other_task_wants) {
  scheduler s(GetParam().options());
  tests::until_stolen(s, 10, [&] {
    std::mutex mutex;
    tests::account tasks(200);
    s.run([&] {
      task_group group;
      for (std::size_t i = 0; i < tasks.size(); ++i) {
        group.run([&, i] {
          const std::lock_guard lock(mutex);
          task_group inner;
          for (int k = 0; k < 4; ++k) inner.run([] { work(5); });
          inner.wait();
          const auto detached = std::make_unique<task_group>();
          for (int k = 0; k < 4; ++k) detached->run([] { work(5); });
          detached->wait();
          tasks.ran(i);
        });
      }
      group.wait();
    });
    ASSERT_EQ(tasks.first_not(1), tasks.size());
  });
}

TEST_P(waiting, runs_descendants_only) {
  // Each task notes on its thread what it is part of. Whatever runs on the thread while it waits must be part of that.
  struct part {
    const part* whole;
  };
  static thread_local const part* waiting_for = nullptr;
  static std::atomic<long> strangers{0};
  struct tree {
    static void grow(const part* me, int depth) {
      bool inside = waiting_for == nullptr;
      for (const part* p = me; p != nullptr && !inside; p = p->whole) inside = p == waiting_for;
      if (!inside) ++strangers;
      if (depth == 0) return;
      const part left{me};
      const part right{me};
      const part* const before = waiting_for;
      waiting_for = me;  // from here to the join this thread runs parts of `me`
      fork_join([&] { grow(&left, depth - 1); }, [&] { grow(&right, depth - 1); });
      waiting_for = before;
    }
  };
  strangers = 0;
  scheduler s(GetParam().options());
  tests::until_stolen(s, 10, [&] {
    const part root{nullptr};
    s.run([&] { tree::grow(&root, 11); });
  });
  EXPECT_EQ(strangers, 0);
}

/// Workers that take part go on to numbers that soon begin again (detail/numbers.hpp), in steps over which their order is known.
void come_to_last_numbers(scheduler& s) {
  constexpr std::uint64_t step = (detail::id_mask + 1) / 4;
  constexpr std::uint64_t left = 20;
  worker_local<int> steps(s);
  s.run([&] {
    for (int round = 0; round < 20; ++round) {
      parallel_for(0, 64, [&](int /*i*/) {
        int& done = steps.local();
        if (done == 4) return work(8);
        std::uint64_t& newest = detail::self->newest_id;
        newest = ++done == 4 ? detail::id_mask - left : newest + step;
        return work(8);
      });
    }
  });
}

/// Branches that are long enough to be stolen, and to be waited for.
void branches(int depth) {
  if (depth == 0) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(5);
    while (std::chrono::steady_clock::now() < until) {
    }
    return;
  }
  fork_join([=] { branches(depth - 1); }, [=] { branches(depth - 1); });
}

TEST_P(waiting, runs_no_other_iteration_whatever_the_numbers) {
  scheduler s(GetParam().options());
  come_to_last_numbers(s);
  static thread_local int depth = 0;
  std::atomic<int> inner{0};
  tests::until_stolen(s, 60, [&] {
    s.run([&] {
      parallel_for(0, 40, [&](int /*i*/) {
        if (depth++ != 0) ++inner;
        branches(4);
        --depth;
      });
    });
  });
  EXPECT_EQ(inner, 0);
}

INSTANTIATE_TEST_SUITE_P(stress, waiting, testing::ValuesIn(tests::safe_configurations({2, 3, 4, 8, 16})),
                         tests::name_of);

/// Runs a body on a thread with a stack as large as the deepest recursion needs.
void on_large_stack(std::function<void()> body) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, std::size_t{1} << 30), 0);
  pthread_t thread{};
  ASSERT_EQ(pthread_create(
                &thread, &attributes,
                [](void* f) -> void* {
                  (*static_cast<std::function<void()>*>(f))();
                  return nullptr;
                },
                &body),
            0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

long depth_of(long n) {
  if (n == 0) return 0;
  const auto [below, one] = fork_join([=] { return depth_of(n - 1); }, [] { return 1L; });
  return below + one;
}

long depth_of_groups(long n) {
  if (n == 0) return 0;
  long below = 0;
  task_group group;
  group.run([&below, n] { below = depth_of_groups(n - 1); });
  group.wait();
  return below + 1;
}

class depth : public testing::TestWithParam<tests::configuration> {};

TEST_P(depth, deep_recursion_of_forks) {
  on_large_stack([&] {
    scheduler s(GetParam().options());
    for (int round = 0; round < 5; ++round) EXPECT_EQ(s.run([] { return depth_of(DEEPEST_FORKS); }), DEEPEST_FORKS);
  });
}

TEST_P(depth, deep_recursion_of_groups) {
  on_large_stack([&] {
    scheduler s(GetParam().options());
    EXPECT_EQ(s.run([] { return depth_of_groups(DEEPEST_GROUPS); }), DEEPEST_GROUPS);
  });
}

INSTANTIATE_TEST_SUITE_P(stress, depth, testing::ValuesIn(tests::configurations({1, 2, 4})), tests::name_of);

}  // namespace
}  // namespace filch
