// Repeated parts. Where their tasks run: tests/vm/constrained_test.cpp.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filch/filch.hpp>

#include "support.hpp"

namespace filch::tests {
namespace {

filch::options chosen(const std::string& policy, int workers) {
  filch::options made;
  made.policy = policy;
  made.workers = workers;
  return made;
}

/// Enough to be stolen now and then.
void take_time() {
  for (int i = 0; i < 200; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
}

/// Tasks of forks and groups inside of each other, each of which counts itself once. So many there are.
std::size_t run_tree(account& ran, std::size_t first, int depth) {
  ran.ran(first);
  take_time();
  if (depth == 0) return 1;
  // The children begin where the one before ends: sizes depend on the depth alone.
  const std::size_t size = ((std::size_t{1} << (2 * depth)) - 1) / 3;
  const auto child = [&, first, depth, size](std::size_t i) { run_tree(ran, first + 1 + i * size, depth - 1); };
  switch (first % 3) {
    case 0:
      fork_join([&] { fork_join([&] { child(0); }, [&] { child(1); }); },
                [&] { fork_join([&] { child(2); }, [&] { child(3); }); });
      break;
    case 1: {
      task_group g;
      for (std::size_t i = 0; i < 4; ++i) g.run([&child, i] { child(i); });
      g.wait();
      break;
    }
    default: {
      task_group g(4);
      // Closures that are no bytes.
      const auto shared = std::make_shared<std::size_t>(0);
      for (std::size_t i = 0; i < 4; ++i) g.run([&child, i, shared] { child(i + *shared); }, 1);
      g.wait();
      break;
    }
  }
  return 4 * size + 1;
}

constexpr int tree_depth = 4;
constexpr std::size_t tree_size = ((1U << (2 * (tree_depth + 1))) - 1) / 3;

class repeated_part : public testing::TestWithParam<configuration> {};

// With every policy: each task once in each iteration, whatever it follows.
TEST_P(repeated_part, runs_each_task_once) {
  scheduler pool(GetParam().options());
  pool.run([&] {
    repeated step(2);
    for (int iteration = 0; iteration < 8; ++iteration) {
      account ran(tree_size);
      EXPECT_EQ(step.run([&] { return run_tree(ran, 0, tree_depth); }), tree_size);
      EXPECT_EQ(ran.first_not(1), tree_size);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(unit, repeated_part, testing::ValuesIn(configurations({1, 3, 8})), name_of);

class constrained : public testing::TestWithParam<int> {};

// Tasks come from other workers in relaxed iterations and in strict ones.
TEST_P(constrained, gives_tasks_to_those_who_had_them) {
  if (GetParam() == 1) return;
  scheduler pool(chosen("constrained", GetParam()));
  pool.run([&] {
    repeated step(1);
    account ran(tree_size);
    for (int round = 0; pool.stats().steals + pool.stats().leaps == 0; ++round) {
      ASSERT_LT(round, 100'000) << "nothing was stolen";
      step.forget();
      step.run([&] { run_tree(ran, 0, tree_depth); });
      std::this_thread::yield();
    }
    for (int iteration = 0; iteration < 4; ++iteration) step.run([&] { run_tree(ran, 0, tree_depth); });
    EXPECT_EQ(ran.first_not(ran.runs(0)), tree_size);
    const statistics strict = pool.stats();
    step.run([&] { run_tree(ran, 0, tree_depth); });
    EXPECT_EQ(pool.stats().steals + pool.stats().leaps, strict.steals + strict.leaps);
  });
}

// All constructs, and another size in each iteration.
TEST_P(constrained, programs_give_the_results_of_serial_code) {
  scheduler pool(chosen("constrained", GetParam()));
  pool.run([&] {
    repeated step(2);
    for (std::size_t iteration = 0; iteration < 9; ++iteration) {
      step.run([&] {
        const std::size_t size = 2000 + 500 * (iteration % 4);
        std::vector<std::size_t> numbers(size);
        parallel_for(std::size_t{0}, size, [&](std::size_t i) { numbers[i] = (i * 7919 + iteration) % size; });
        parallel_for(
            std::size_t{0}, size, [&](std::size_t i) { fork_join([&] { ++numbers[i]; }, [&] { take_time(); }); },
            loop::simple(64));
        auto [sum, unused] = fork_join(
            [&] {
              return parallel_reduce(
                  std::size_t{0}, size, std::size_t{0}, [&](std::size_t i) { return numbers[i]; }, std::plus<>{});
            },
            [&] {
              std::vector<int> bag{1, 2, 3};
              for_each_dynamic(bag.begin(), bag.end(), [](int left, feeder<int>& more) {
                fork_join([] {}, [] {});
                if (left > 0) more.push(left - 1);
              });
            });
        static_cast<void>(unused);
        EXPECT_EQ(sum, std::accumulate(numbers.begin(), numbers.end(), std::size_t{0}));
        parallel_sort(numbers.begin(), numbers.end());
        EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
        const auto on_heap = std::make_unique<task_group>();
        std::atomic<int> ran{0};
        task_group outer;
        for (int i = 0; i < 10; ++i) {
          outer.run([&] {
            task_group inner;
            inner.run([&] { ++ran; });
            inner.run([&] { on_heap->run([&] { ++ran; }); });
            outer.run([&] { ++ran; });
            inner.wait();
          });
        }
        outer.wait();
        on_heap->wait();
        EXPECT_EQ(ran, 30);
      });
    }
  });
}

TEST_P(constrained, the_first_exception_in_spawn_order_arrives) {
  scheduler pool(chosen("constrained", GetParam()));
  pool.run([&] {
    repeated step(2);
    for (int iteration = 0; iteration < 20; ++iteration) {
      step.run([&] {
        EXPECT_THROW(fork_join([] { throw std::runtime_error("first"); },
                               [] {
                                 take_time();
                                 throw std::logic_error("second");
                               }),
                     std::runtime_error);
        EXPECT_THROW(fork_join([] { take_time(); }, [] { throw std::logic_error("second"); }), std::logic_error);
        task_group g;
        for (int i = 0; i < 10; ++i) {
          g.run([i] {
            take_time();
            if (i > 2) throw int{i};
          });
        }
        int caught = 0;
        try {
          g.wait();
        } catch (int which) {
          caught = which;
        }
        EXPECT_EQ(caught, 3);
      });
    }
  });
}

// An iteration that throws counts for nothing, and the next one goes on.
TEST_P(constrained, an_exception_ends_its_iteration) {
  scheduler pool(chosen("constrained", GetParam()));
  pool.run([&] {
    repeated step(1);
    for (int iteration = 0; iteration < 12; ++iteration) {
      account ran(tree_size);
      const auto run = [&] {
        run_tree(ran, 0, tree_depth);
        if (iteration % 3 == 0) throw std::runtime_error("every third");
      };
      if (iteration % 3 == 0) {
        EXPECT_THROW(step.run(run), std::runtime_error);
      } else {
        step.run(run);
      }
      EXPECT_EQ(ran.first_not(1), tree_size);
    }
  });
}

// Parts inside of themselves and of each other, in tasks that may run anywhere.
TEST_P(constrained, parts_may_be_nested) {
  scheduler pool(chosen("constrained", GetParam()));
  pool.run([&] {
    repeated outer(1);
    repeated inner(1);
    for (int iteration = 0; iteration < 8; ++iteration) {
      account ran(4 * tree_size);
      outer.run([&] {
        task_group g;
        g.run([&] { outer.run([&] { run_tree(ran, 0, tree_depth); }); });
        g.run([&] { inner.run([&] { run_tree(ran, tree_size, tree_depth); }); });
        // In a loop there is no trace of the part around it.
        parallel_for(std::size_t{2}, std::size_t{4},
                     [&](std::size_t i) { inner.run([&] { run_tree(ran, i * tree_size, tree_depth); }); });
        g.wait();
      });
      EXPECT_EQ(ran.first_not(1), ran.size());
    }
  });
}

// A group that was made before the part gets tasks in it, and is waited for later, when the part's trace may be gone.
TEST_P(constrained, groups_may_outlive_a_part) {
  scheduler pool(chosen("constrained", GetParam()));
  for (int round = 0; round < 50; ++round) {
    account ran(3 * tree_size);
    pool.run([&] {
      task_group g;
      {
        repeated step(0);
        for (std::size_t i = 0; i < 3; ++i) {
          step.run([&] {
            g.run([&ran, i] { run_tree(ran, i * tree_size, tree_depth); });
            fork_join([] { take_time(); }, [] { take_time(); });
          });
        }
      }
      g.wait();
    });
    ASSERT_EQ(ran.first_not(1), ran.size());
  }
}

// Threads that take part in one scheduler at the same time: one has the seat, the others are guests.
TEST_P(constrained, several_callers_at_once) {
  scheduler pool(chosen("constrained", GetParam()));
  repeated common(1);
  const auto call = [&](repeated& own) {
    for (int iteration = 0; iteration < 10; ++iteration) {
      account ran(2 * tree_size);
      pool.run([&] {
        own.run([&] { run_tree(ran, 0, tree_depth); });
        common.run([&] { run_tree(ran, tree_size, tree_depth); });
      });
      EXPECT_EQ(ran.first_not(1), ran.size());
    }
  };
  std::vector<std::thread> callers;
  callers.reserve(3);
  for (int i = 0; i < 3; ++i) {
    callers.emplace_back([&] {
      repeated own(1);
      call(own);
    });
  }
  for (std::thread& caller : callers) caller.join();
}

// The same object on schedulers that come and go, with other numbers of workers; and inside of another's tasks.
TEST_P(constrained, schedulers_may_change) {
  repeated step(1);
  repeated inside(1);
  for (int iteration = 0; iteration < 12; ++iteration) {
    scheduler pool(chosen("constrained", 1 + (GetParam() + iteration / 4) % 4));
    scheduler other(chosen("constrained", 2));
    account ran(2 * tree_size);
    pool.run([&] {
      step.run([&] {
        fork_join([&] { run_tree(ran, 0, tree_depth); },
                  [&] { other.run([&] { inside.run([&] { run_tree(ran, tree_size, tree_depth); }); }); });
      });
    });
    EXPECT_EQ(ran.first_not(1), ran.size());
  }
}

INSTANTIATE_TEST_SUITE_P(unit, constrained, testing::Values(1, 2, 3, 8));

/// Others get the caller's tasks meanwhile.
void await(const std::atomic<bool>& flag) {
  while (!flag) fork_join([] { std::this_thread::yield(); }, [] {});
}

/// True while it exists.
class mark {
 public:
  explicit mark(bool& of) noexcept : of_(of) { of_ = true; }
  ~mark() { of_ = false; }
  mark(const mark&) = delete;
  mark& operator=(const mark&) = delete;

 private:
  bool& of_;
};

thread_local bool holds_lock = false;

// The parts of a static loop, outside of repeated parts, are given to workers that wait; one of them may hold a lock that
// the parts want.
TEST(constrained_waits, do_not_run_parts_of_static_loops) {
  scheduler pool(chosen("constrained", 3));
  std::atomic<bool> waits{false};
  std::atomic<bool> loop_is_over{false};
  std::atomic<int> ran{0};
  pool.run([&] {
    task_group g;
    g.run([&] {
      const mark locked(holds_lock);
      fork_join([&] { await(waits); },
                [&] {
                  waits = true;
                  await(loop_is_over);
                });
    });
    await(waits);
    parallel_for(
        0, 3,
        [&](int i) {
          EXPECT_FALSE(holds_lock);
          ++ran;
          if (i == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));  // so that who waits has looked
        },
        loop::fixed{});
    loop_is_over = true;
    g.wait();
  });
  EXPECT_EQ(ran, 3);
}

// A strict iteration gives a task to a worker that waits, and is in no iteration itself: nobody else would run it.
TEST(constrained_waits, run_what_a_strict_iteration_gives) {
  scheduler pool(chosen("constrained", 3));
  pool.run([&] {
    std::atomic<bool> waits{false};
    std::atomic<bool> over{false};
    std::vector<std::size_t> ran_by;
    fork_join([&] { await(over); },
              [&] {
                fork_join([&] { await(waits); },
                          [&] {
                            waits = true;
                            repeated step(0);
                            for (int iteration = 0; iteration < 4; ++iteration) {
                              std::atomic<bool> begun{false};
                              step.run([&] {
                                fork_join([&] { await(begun); },
                                          [&] {
                                            begun = true;
                                            ran_by.push_back(static_cast<std::size_t>(this_worker().index));
                                          });
                              });
                            }
                            over = true;
                          });
              });
    EXPECT_THAT(ran_by, testing::Each(ran_by.front()));
    EXPECT_EQ(ran_by.size(), 4U);
  });
}

// Outside of every scheduler the default one is used, whatever its policy.
TEST(repeated_calls, return_what_f_returns) {
  repeated step;
  EXPECT_EQ(step.run([] { return std::get<1>(fork_join([] { return 1; }, [] { return 2; })); }), 2);
  int value = 3;
  static_assert(std::is_same_v<decltype(step.run([&]() -> int& { return value; })), int&>);
  EXPECT_EQ(&step.run([&]() -> int& { return value; }), &value);
  scheduler pool(chosen("constrained", 2));
  pool.run([&] {
    EXPECT_EQ(&step.run([&]() -> int& { return value; }), &value);
    EXPECT_EQ(*step.run([] { return std::make_unique<int>(4); }), 4);
  });
}

// What is stolen half-way, and a stack that is full.
TEST(repeated_calls, with_small_stacks) {
  filch::options small = chosen("constrained", 4);
  small.stack_bytes = 4096;
  scheduler pool(small);
  pool.run([&] {
    repeated step(1);
    for (int iteration = 0; iteration < 6; ++iteration) {
      std::vector<std::atomic<int>> ran(500);
      step.run([&] {
        task_group g;
        for (std::atomic<int>& each : ran) {
          g.run([&each] { fork_join([&] { ++each; }, [] { take_time(); }); });
        }
        g.wait();
      });
      EXPECT_TRUE(std::all_of(ran.begin(), ran.end(), [](const std::atomic<int>& r) { return r == 1; }));
    }
  });
}

}  // namespace
}  // namespace filch::tests
