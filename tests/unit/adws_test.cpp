// Work hints, and tasks that are given to other workers. Where they are put: tests/vm/adws_test.cpp.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <future>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filch/filch.hpp>

#include "scheduler/scheduler_core.hpp"
#include "support.hpp"

namespace filch::tests {
namespace {

filch::options chosen(const std::string& policy, int workers) {
  filch::options made;
  made.policy = policy;
  made.workers = workers;
  return made;
}

class hints : public testing::TestWithParam<configuration> {};

// Whoever pays no attention to hints runs the program as if there were none.
TEST_P(hints, change_no_results) {
  scheduler pool(GetParam().options());
  const auto sum_of = [](const auto& self, int low, int high) -> long {
    if (high - low == 1) return low;
    const int first = low + (high - low) / 3 + 1;
    if (first >= high) return self(self, low, low + 1) + self(self, low + 1, high);
    auto [a, b] =
        fork_join(work{1, 2}, [&] { return self(self, low, first); }, [&] { return self(self, first, high); });
    return a + b;
  };
  pool.run([&] {
    EXPECT_EQ(sum_of(sum_of, 0, 1000), 499'500);
    std::vector<int> ran(30);
    task_group g(435);
    for (std::size_t i = 0; i < ran.size(); ++i) g.run([&, i] { ++ran[i]; }, static_cast<double>(i));
    g.wait();
    for (std::size_t i = 0; i < ran.size(); ++i) g.run([&, i] { ++ran[i]; }, static_cast<double>(i));
    g.wait();
    EXPECT_THAT(ran, testing::Each(2));
  });
  EXPECT_EQ(pool.stats().bad_hints, 0U);
}

INSTANTIATE_TEST_SUITE_P(unit, hints, testing::ValuesIn(configurations({1, 3})), name_of);

// What is not an amount, or more than what is left: an error where contracts are checked, else corrected and counted.
TEST(work_hints, that_are_bad_are_noticed) {
  for (const std::string policy : {"standard", "adws", "adws_nosteal"}) {
    scheduler pool(chosen(policy, 2));
    int ran = 0;
    std::uint64_t bad = 0;
    const auto try_it = [&](auto call) {
      if constexpr (detail::checks) {
        EXPECT_THROW(pool.run(call), std::invalid_argument);
      } else {
        pool.run(call);
      }
      ++bad;
    };
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    try_it([&] { fork_join(work{-1, 1}, [&] { ++ran; }, [] {}); });
    try_it([&] { fork_join(work{nan, 1}, [&] { ++ran; }, [] {}); });
    EXPECT_EQ(ran, detail::checks ? 0 : 2);
    ran = 0;
    if constexpr (detail::checks) {
      for (const double work : {-1.0, nan, 3.0}) {
        pool.run([&] {
          task_group g(2);
          g.run([&] { ++ran; }, 1);
          EXPECT_THROW(g.run([&] { ++ran; }, work), std::invalid_argument);
          g.wait();
        });
      }
      EXPECT_EQ(ran, 3) << "what was added is run, what was rejected is not";
      EXPECT_THROW(task_group(-1.0), std::invalid_argument);
      EXPECT_THROW(task_group{nan}, std::invalid_argument);
    } else {
      EXPECT_EQ(pool.stats().bad_hints, bad);
    }
  }
}

TEST(work_hints, of_nothing_are_fine) {
  for (const std::string policy : {"standard", "adws", "adws_nosteal"}) {
    scheduler pool(chosen(policy, 3));
    std::atomic<int> ran{0};
    pool.run([&] {
      fork_join(work{0, 0}, [&] { ++ran; }, [&] { ++ran; });
      fork_join(work{0, 1}, [&] { ++ran; }, [&] { ++ran; });
      fork_join(work{1, 0}, [&] { ++ran; }, [&] { ++ran; });
      task_group g(1);
      for (int i = 0; i < 10; ++i) g.run([&] { ++ran; }, 0);
      g.run([&] { ++ran; }, 1);
      g.wait();
    });
    EXPECT_EQ(ran, 17);
    EXPECT_EQ(pool.stats().bad_hints, 0U);
  }
}

// Sums of fractions are rounded, whatever their size.
TEST(work_hints, that_add_up_but_for_rounding_are_fine) {
  for (const double unit : {0.1, 1e-12, 1e9 / 3}) {
    for (const std::string policy : {"standard", "adws", "adws_nosteal"}) {
      scheduler pool(chosen(policy, 3));
      std::atomic<int> ran{0};
      pool.run([&] {
        task_group g(30 * unit);
        for (int i = 0; i < 30; ++i) g.run([&] { ++ran; }, unit);
        g.run([&] { ++ran; }, 0);
        g.wait();
        task_group without_total;
        without_total.run([&] { ++ran; }, unit);
        without_total.wait();
      });
      EXPECT_EQ(ran, 32);
      EXPECT_EQ(pool.stats().bad_hints, 0U);
    }
  }
}

TEST(work_hints, of_loops_are_lists_that_are_long_enough) {
  for (const std::string policy : {"standard", "adws", "adws_nosteal"}) {
    scheduler pool(chosen(policy, 3));
    pool.run([&] {
      std::vector<double> sums(101);
      for (std::size_t i = 0; i < 100; ++i) sums[i + 1] = sums[i] + static_cast<double>(i % 7);
      std::vector<int> ran(100);
      parallel_for(0, 100, [&](int i) { ++ran[static_cast<std::size_t>(i)]; }, weights(sums));
      EXPECT_THAT(ran, testing::Each(1));
      parallel_for(ran.begin(), ran.end(), [](int& r) { ++r; }, weights(sums));
      EXPECT_THAT(ran, testing::Each(2));
      sums.pop_back();
      try {
        parallel_for(0, 100, [&](int i) { ++ran[static_cast<std::size_t>(i)]; }, weights(sums));
        FAIL() << "a list without an entry for the end was taken";
      } catch (const std::invalid_argument& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("100 weights for a loop of 100 iterations; give 101"));
      }
      EXPECT_THAT(ran, testing::Each(2)) << "nothing has begun";
      parallel_for(0, 0, [](int) { FAIL(); }, weights(sums));
      if constexpr (detail::checks) {
        std::swap(sums[20], sums[40]);
        EXPECT_THROW(parallel_for(0, 99, [](int) {}, weights(sums)), std::invalid_argument);
      }
    });
  }
}

// Reductions, and ranges of two and three dimensions, where the list is for the rows and the pages.
TEST(work_hints, of_reductions_and_rectangles) {
  for (const std::string policy : {"standard", "adws", "adws_nosteal"}) {
    scheduler pool(chosen(policy, 3));
    pool.run([&] {
      std::vector<double> sums(101);
      for (std::size_t i = 0; i < 100; ++i) sums[i + 1] = sums[i] + static_cast<double>(i % 7);
      const weights hints(sums);
      EXPECT_EQ(parallel_reduce(0, 100, 1L, [](int i) { return static_cast<long>(i); }, std::plus<>(), hints), 4951);
      EXPECT_EQ(parallel_reduce(0, 100, 1L, [](int i) { return static_cast<long>(i); }, hints), 4951);
      EXPECT_EQ(parallel_reduce(0, 100, 1, {}, hints), 4951);
      EXPECT_EQ(parallel_reduce(0, 100, 1, {}, std::plus<>(), hints), 4951);
      const auto add = [](const blocked_range<int>& part, long sum) {
        for (int i = part.begin(); i < part.end(); ++i) sum += i;
        return sum;
      };
      EXPECT_EQ(parallel_reduce(blocked_range(0, 100), 0L, add, std::plus<>(), hints), 4950);
      for (const int columns : {0, 1, 3, 1000}) {
        std::vector<int> ran(static_cast<std::size_t>(100 * columns));
        const auto visit = [&](int row, int column) { ++ran[static_cast<std::size_t>(row * columns + column)]; };
        const blocked_range2d plane(0, 100, 0, columns);
        parallel_for(
            plane,
            [&](const auto& part) {
              for (int i = part.rows().begin(); i < part.rows().end(); ++i) {
                for (int j = part.cols().begin(); j < part.cols().end(); ++j) visit(i, j);
              }
            },
            hints);
        EXPECT_THAT(ran, testing::Each(1));
        const auto cells = [](const auto& part, std::size_t n) { return n + part.rows().size() * part.cols().size(); };
        EXPECT_EQ(parallel_reduce(plane, std::size_t{0}, cells, std::plus<>(), hints), ran.size());
        std::atomic<std::size_t> cuboid = 0;
        parallel_for(
            blocked_range3d(0, 100, 0, 3, 0, columns),
            [&](const auto& part) { cuboid += part.pages().size() * part.rows().size() * part.cols().size(); }, hints);
        EXPECT_EQ(cuboid, 3 * ran.size());
      }
      const auto error_of = [&](const auto& loop) -> std::string {
        try {
          loop();
          return "none";
        } catch (const std::invalid_argument& error) {
          return error.what();
        }
      };
      EXPECT_EQ(error_of([&] { parallel_for(blocked_range2d(0, 101, 0, 5), [](const auto&) { FAIL(); }, hints); }),
                "filch: a list of 101 weights for a loop of 101 rows; give 102, each the work of all rows before");
      EXPECT_THAT(error_of([&] { parallel_reduce(0, 101, 0, [](int i) { return i; }, std::plus<>(), hints); }),
                  testing::HasSubstr("101 iterations; give 102"));
      EXPECT_THAT(
          error_of([&] { parallel_for(blocked_range3d(0, 101, 0, 5, 0, 5), [](const auto&) { FAIL(); }, hints); }),
          testing::HasSubstr("101 pages; give 102"));
    });
  }
}

class placed : public testing::TestWithParam<int> {};

// All constructs inside of each other, each task where division has put it.
TEST_P(placed, programs_give_the_results_of_serial_code) {
  scheduler pool(chosen("adws_nosteal", GetParam()));
  for (int round = 0; round < 20; ++round) {
    pool.run([&] {
      std::vector<std::size_t> numbers(5000);
      parallel_for(std::size_t{0}, numbers.size(), [&](std::size_t i) { numbers[i] = i * 7919 % 5000; });
      auto [sum, unused] = fork_join(
          [&] {
            return parallel_reduce(
                std::size_t{0}, numbers.size(), std::size_t{0}, [&](std::size_t i) { return numbers[i]; },
                std::plus<>{});
          },
          [&] {
            std::vector<int> bag{1, 2, 3};
            for_each_dynamic(bag.begin(), bag.end(), [](int left, feeder<int>& more) {
              fork_join([] {}, [] {});
              if (left > 0) more.push(left - 1);
            });
          });
      static_cast<void>(unused);
      EXPECT_EQ(sum, 4999U * 5000 / 2);
      std::vector<std::size_t> sorted = numbers;
      parallel_sort(sorted.begin(), sorted.end());
      EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end()));
      const auto on_heap = std::make_unique<task_group>();
      std::atomic<int> ran{0};
      task_group outer;
      for (int i = 0; i < 10; ++i) {
        outer.run([&] {
          task_group inner(3);
          inner.run([&] { ++ran; }, 1);
          inner.run([&] { on_heap->run([&] { ++ran; }); }, 1);
          outer.run([&] { ++ran; });
          inner.wait();
        });
      }
      outer.wait();
      on_heap->wait();
      EXPECT_EQ(ran, 30);
    });
  }
}

TEST_P(placed, the_first_exception_in_spawn_order_arrives) {
  for (const std::string policy : {"adws", "adws_nosteal"}) {
    scheduler pool(chosen(policy, GetParam()));
    pool.run([&] {
      EXPECT_THROW(fork_join([] { throw std::runtime_error("first"); }, [] { throw std::logic_error("second"); }),
                   std::runtime_error);
      int later = 0;
      EXPECT_THROW(fork_join([&] { later = 1; }, [] { throw std::logic_error("second"); }), std::logic_error);
      EXPECT_EQ(later, 1) << "the first branch runs in any case";
      task_group g(4);
      for (int i = 0; i < 4; ++i) {
        g.run(
            [i] {
              if (i != 0) throw i;
            },
            1);
      }
      int caught = 0;
      try {
        g.wait();
      } catch (int which) {
        caught = which;
      }
      EXPECT_EQ(caught, 1);
      task_group reused(4);
      for (int round = 0; round < 5; ++round) {
        // The first ones run at once, the others are pushed.
        for (int i = 0; i < 4; ++i) {
          reused.run(
              [i] {
                if (i != 0) throw i;
              },
              1);
        }
        try {
          reused.wait();
          ADD_FAILURE() << "nothing was thrown";
        } catch (int which) {
          EXPECT_EQ(which, 1) << "in round " << round;
        }
      }
      EXPECT_THROW(parallel_for(0, 1000,
                                [](int i) {
                                  if (i == 17) throw std::runtime_error("17");
                                  if (i > 17) throw std::logic_error("another");
                                }),
                   std::runtime_error);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(unit, placed, testing::Values(1, 2, 3, 8));

// A lock held across constructs whose parts are given to workers that wait for it.
TEST(adws, waits_safely) {
  for (int workers = 2; workers <= 8; workers += 3) {
    scheduler pool(chosen("adws", workers));
    std::mutex one;
    long sum = 0;
    pool.run([&] {
      parallel_for(0, 200, [&](int) {
        const std::lock_guard hold(one);
        fork_join([&] { ++sum; }, [] {});
        task_group g(2);
        g.run([&] { ++sum; }, 2);
        g.wait();
        parallel_for(0, 3, [](int) {});
      });
    });
    EXPECT_EQ(sum, 400);
  }
}

/// A tree whose leaves take 0.2 ms.
void spread(int depth) {
  if (depth == 0) return std::this_thread::sleep_for(std::chrono::microseconds(200));
  fork_join([=] { spread(depth - 1); }, [=] { spread(depth - 1); });
}

// Submitted tasks, and those of groups on the heap, are for whoever is idle, whatever that one may steal. The worker that makes
// them is blocked meanwhile, and says so to nobody.
class idle_workers : public testing::TestWithParam<std::tuple<const char*, int>> {
 protected:
  scheduler pool_{chosen(std::get<0>(GetParam()), std::get<1>(GetParam()))};

  /// Is it run by another worker than the caller, who is in the middle of a task, once all others sleep?
  bool others_run_what_is_submitted() {
    if (!others_fall_asleep()) return false;
    const auto ran = std::make_shared<std::promise<void>>();
    static_cast<void>(pool_.submit([ran] { ran->set_value(); }));
    return ended(*ran);
  }
  bool others_run_what_is_added() {
    if (!others_fall_asleep()) return false;
    const auto ran = std::make_shared<std::promise<void>>();
    const auto group = std::make_unique<task_group>();
    group->run([ran] { ran->set_value(); });
    const bool in_time = ended(*ran);
    group->wait();
    return in_time;
  }

 private:
  static constexpr std::chrono::seconds long_enough{20};

  bool others_fall_asleep() {
    const auto end = std::chrono::steady_clock::now() + long_enough;
    while (!pool_.core().idle_workers().all_but_one()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::yield();
    }
    return true;
  }
  static bool ended(std::promise<void>& of) {
    return of.get_future().wait_for(long_enough) == std::future_status::ready;
  }
};

TEST_P(idle_workers, run_detached_tasks_that_the_root_makes) {
  pool_.run([&] {
    parallel_for(0, 64, [](int) {});
    EXPECT_TRUE(others_run_what_is_submitted());
    EXPECT_TRUE(others_run_what_is_added());
  });
}

TEST_P(idle_workers, run_detached_tasks_of_another_range) {
  pool_.run([&] {
    task_group g(4);
    g.run([] { spread(3); }, 1);
    g.run([] { spread(3); }, 1);
    spread(2);
    EXPECT_TRUE(others_run_what_is_submitted());
    EXPECT_TRUE(others_run_what_is_added());
    g.wait();
  });
}

INSTANTIATE_TEST_SUITE_P(unit, idle_workers,
                         testing::Combine(testing::Values("adws", "adws_nosteal"), testing::Values(2, 4)));

// Both tasks are the second worker's, and the first of them waits for the other one.
TEST(adws, tasks_of_a_blocked_worker_are_run_in_its_place) {
  for (const char* const policy : {"adws", "adws_nosteal"}) {
    scheduler pool(chosen(policy, 2));
    const auto ran = std::make_shared<std::promise<void>>();
    bool in_time = false;
    pool.run([&] {
      task_group g(4);
      g.run(
          [&] {
            const blocking here;
            in_time = ran->get_future().wait_for(std::chrono::seconds(20)) == std::future_status::ready;
          },
          1);
      g.run([ran] { ran->set_value(); }, 1);
      g.wait();
    });
    EXPECT_TRUE(in_time) << policy;
  }
}

/// A task waits for another one, which waits for a promise. The promise is kept after a loop, of which both workers were given
/// parts. True: it was.
bool loop_ends_beside_waits(const std::string& policy, bool of_group) {
  scheduler pool(chosen(policy, 3));
  promise<> opened;
  const future<> open = opened.get_future();
  std::atomic<int> begun{0};
  const auto inner = [&, open] {
    ++begun;
    open.wait();
  };
  const future<> outer = pool.submit([&] {
    if (of_group) {
      const auto group = std::make_unique<task_group>();
      group->run(inner);
      while (begun == 0) std::this_thread::yield();
      ++begun;
      group->wait();
    } else {
      const future<> made = pool.submit(inner);
      while (begun == 0) std::this_thread::yield();
      ++begun;
      made.wait();
    }
  });
  while (begun < 2) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));  // so that mostly they sleep
  std::promise<void> ended;
  bool in_time = false;
  std::thread keeper([&] {
    in_time = ended.get_future().wait_for(std::chrono::seconds(20)) == std::future_status::ready;
    opened.put();
  });
  std::atomic<int> ran{0};
  pool.run([&] { parallel_for(0, 30, [&](int /*i*/) { ++ran; }, loop::fixed{}); });
  ended.set_value();
  keeper.join();
  outer.wait();
  EXPECT_EQ(ran, 30);
  return in_time;
}

TEST(adws, a_loop_ends_where_workers_wait_for_futures) {
  for (const char* const policy : {"adws", "adws_nosteal"}) {
    EXPECT_TRUE(loop_ends_beside_waits(policy, false)) << policy;
    EXPECT_TRUE(loop_ends_beside_waits(policy, true)) << policy;
  }
}

// One branch is another worker's, so a group on the stack may not be waited for in it; the message says so.
TEST(adws, wait_in_a_given_branch_is_an_error) {
  scheduler pool(chosen("adws_nosteal", 2));
  pool.run([&] {
    task_group g;
    g.run([] {});
    EXPECT_THROW(fork_join([&] { g.wait(); }, [] {}), std::logic_error);
    g.wait();
  });
}

}  // namespace
}  // namespace filch::tests
