// Schedulers come and go, contain each other, and are used by many threads at once.
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "support.hpp"

namespace filch {
namespace {

long fib(int n) {
  if (n < 2) return n;
  const auto [a, b] = fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

TEST(lifecycle, thousands_of_schedulers) {
  const int schedulers = tests::full_product_wanted() ? 3000 : 1000;
  for (int i = 0; i < schedulers; ++i) {
    scheduler s({.workers = 1 + i % 4, .policy = i % 2 == 0 ? "lace" : "chase_lev"});
    // Some are destroyed before their threads have begun, some while these search, some after work.
    if (i % 3 != 0) {
      ASSERT_EQ(s.run([] { return fib(8); }), 21);
    }
  }
}

// A group on the heap outlives the schedulers that have its tasks, some of which make further ones.
TEST(lifecycle, schedulers_end_with_tasks_queued) {
  constexpr std::size_t tasks = 40;
  for (int i = 0; i < 400; ++i) {
    tests::account runs(2 * tasks);
    const auto group = std::make_unique<task_group>();
    {
      scheduler s({.workers = 1 + i % 4, .policy = i % 3 == 0 ? "chase_lev" : "lace"});
      s.run([&] {
        for (std::size_t t = 0; t < tasks; ++t) {
          group->run([&, t] {
            runs.ran(t);
            group->run([&, t] { runs.ran(tasks + t); });
          });
        }
      });
    }
    ASSERT_EQ(runs.first_not(1), runs.size());
    ASSERT_EQ(group->wait(), group_status::complete);
  }
}

class external_threads : public testing::TestWithParam<tests::configuration> {};

TEST_P(external_threads, share_one_scheduler) {
  scheduler s(GetParam().options());
  constexpr std::size_t threads = 8;
  constexpr std::size_t rounds = 40;
  tests::account runs(threads * rounds);
  std::vector<std::thread> callers;
  for (std::size_t t = 0; t < threads; ++t) {
    callers.emplace_back([&, t] {
      for (std::size_t r = 0; r < rounds; ++r) {
        if (s.run([] { return fib(14); }) == 377) runs.ran(t * rounds + r);
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(runs.first_not(1), runs.size());
}

TEST_P(external_threads, share_one_group) {
  scheduler s(GetParam().options());
  constexpr std::size_t threads = 6;
  constexpr std::size_t each = 300;
  tests::account tasks(threads * each);
  s.run([&] {
    task_group group;
    std::vector<std::thread> callers;
    for (std::size_t t = 0; t < threads; ++t) {
      callers.emplace_back([&, t] {
        for (std::size_t i = 0; i < each; ++i) {
          group.run([&tasks, n = t * each + i] {
            fib(5);
            tasks.ran(n);
          });
        }
      });
    }
    for (auto& caller : callers) caller.join();
    group.wait();
  });
  EXPECT_EQ(tasks.first_not(1), tasks.size());
}

TEST_P(external_threads, each_with_groups_of_their_own) {
  scheduler s(GetParam().options());
  constexpr std::size_t threads = 4;
  std::vector<std::thread> callers;
  for (std::size_t t = 0; t < threads; ++t) {
    callers.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        tests::account tasks(200);
        task_group group;
        s.run([&] {
          for (std::size_t i = 0; i < tasks.size(); ++i) group.run([&tasks, i] { tasks.ran(i); });
        });
        group.wait();
        ASSERT_EQ(tasks.first_not(1), tasks.size());
      }
    });
  }
  for (auto& caller : callers) caller.join();
}

TEST_P(external_threads, nested_schedulers) {
  scheduler outer(GetParam().options());
  scheduler inner({.workers = 3});
  for (int round = 0; round < 20; ++round) {
    const auto nested = [&] { return inner.run([] { return fib(12); }); };
    const long sum = outer.run([&] {
      const auto [a, b, c, d] = fork_join(nested, nested, nested, [&] {
        return inner.run([&] {
          const auto [x, y] = fork_join([&] { return outer.run([] { return fib(12); }); }, [] { return fib(12); });
          return x + y;
        });
      });
      return a + b + c + d;
    });
    ASSERT_EQ(sum, 5 * 144);
  }
}

INSTANTIATE_TEST_SUITE_P(stress, external_threads, testing::ValuesIn(tests::configurations({1, 2, 5})), tests::name_of);

}  // namespace
}  // namespace filch
