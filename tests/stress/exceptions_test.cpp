// Exceptions from tasks that others run: nothing is lost, nothing runs twice, and the right one arrives.
#include <atomic>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "support.hpp"

namespace filch {
namespace {

class exceptions : public testing::TestWithParam<tests::configuration> {};
/// With several workers: one alone never steals.
class stolen_exceptions : public testing::TestWithParam<tests::configuration> {};

/// Objects that exist, to see that results and closures of failed branches are destroyed.
struct tracked {
  static inline std::atomic<long> alive{0};
  long value;
  explicit tracked(long v) : value(v) { ++alive; }
  tracked(tracked&& other) noexcept : value(other.value) { ++alive; }
  tracked(const tracked& other) : value(other.value) { ++alive; }
  tracked& operator=(const tracked&) = default;
  tracked& operator=(tracked&&) = default;
  ~tracked() { --alive; }
};

/// Sums leaves; every leaf whose number is divisible by `bad` throws it.
tracked sum(long first, long last, long bad) {
  if (last - first == 1) {
    if (first % bad == 0) throw first;
    return tracked(first);
  }
  const long middle = first + (last - first) / 2;
  auto [a, b] = fork_join([=] { return sum(first, middle, bad); }, [=] { return sum(middle, last, bad); });
  return tracked(a.value + b.value);
}

TEST_P(exceptions, the_leftmost_of_a_tree_arrives) {
  scheduler s(GetParam().options());
  for (int round = 0; round < 30; ++round) {
    for (const long first : {1L, 100L, 250L}) {
      try {
        s.run([&] { return sum(first, 512, 97); });
        FAIL() << "nothing was thrown";
      } catch (long thrown) {
        // A later branch may be skipped, an earlier one may not: it is always the first multiple of 97.
        EXPECT_EQ(thrown, (first + 96) / 97 * 97);
      }
      ASSERT_EQ(tracked::alive, 0);
    }
    EXPECT_EQ(s.run([&] { return sum(1, 97, 97).value; }), 96 * 97 / 2);
  }
}

TEST_P(stolen_exceptions, of_a_stolen_branch) {
  scheduler s(GetParam().options());
  for (int round = 0; round < 50; ++round) {
    std::atomic<bool> begun = false;
    const auto body = [&] {
      fork_join(
          [&] {
            tests::wait_for_thief(begun, GetParam().policy);  // until somebody has stolen the other branch
          },
          [&] {
            begun = true;
            throw round;
          });
    };
    try {
      s.run(body);
      FAIL() << "nothing was thrown";
    } catch (int thrown) {
      EXPECT_EQ(thrown, round);
    }
  }
}

TEST_P(stolen_exceptions, of_both_branches_the_first) {
  scheduler s(GetParam().options());
  for (int round = 0; round < 50; ++round) {
    std::atomic<bool> begun = false;
    const auto body = [&] {
      fork_join(
          [&] {
            tests::wait_for_thief(begun, GetParam().policy);
            throw 1;
          },
          [&] {
            begun = true;
            throw 2;
          });
    };
    try {
      s.run(body);
      FAIL() << "nothing was thrown";
    } catch (int thrown) {
      EXPECT_EQ(thrown, 1);
    }
  }
}

/// What an exception may do when it ends: work in parallel, where some of that fails.
struct parting {
  parting() = default;
  parting(const parting&) = default;
  ~parting() {
    if (!armed.exchange(false)) return;
    for (std::size_t depth = 0; depth < 70; ++depth) failing_loop(depth);
  }

  static inline std::atomic<bool> armed{false};

 private:
  // The loop lies elsewhere on the stack each time, so that each lock of loops is one of theirs.
  [[gnu::noinline]] static void failing_loop(std::size_t depth) {
    void* const volatile room = __builtin_alloca(16 * (depth + 1));
    static_cast<void>(room);
    EXPECT_THROW(parallel_for(0, 2, [](int) { throw 1; }), int);
  }
};

TEST_P(stolen_exceptions, of_a_loop_may_fail_in_loops_when_they_are_replaced) {
  scheduler s(GetParam().options());
  parting::armed = true;
  std::atomic<bool> upper{false};
  const auto body = [&](int i) {
    if (i == 1) {
      struct at_end {
        std::atomic<bool>& upper;
        ~at_end() { upper = true; }
      } const here{upper};
      throw parting();
    }
    while (!upper) std::this_thread::yield();
    // The other one is noted, or is about to be.
    for (int round = 0; round < 100; ++round) std::this_thread::yield();
    throw std::runtime_error("lower");
  };
  EXPECT_THROW(s.run([&] { parallel_for(0, 2, body, loop::fixed{}); }), std::runtime_error);
}

TEST_P(exceptions, of_groups_all_tasks_run_and_the_first_arrives) {
  scheduler s(GetParam().options());
  for (int round = 0; round < 20; ++round) {
    tests::account tasks(600);
    const auto body = [&] {
      task_group group;
      for (std::size_t i = 0; i < tasks.size(); ++i) {
        group.run([&tasks, i] {
          tasks.ran(i);
          if (i >= 100 && i % 50 == 0) throw i;
        });
      }
      group.wait();
    };
    try {
      s.run(body);
      FAIL() << "nothing was thrown";
    } catch (std::size_t thrown) {
      EXPECT_EQ(thrown, 100U);
    }
    ASSERT_EQ(tasks.first_not(1), tasks.size());
  }
}

// Of several that wait for a group one gets the exception, and the others nothing of it.
TEST_P(exceptions, of_several_that_wait_one_gets_it) {
  scheduler s(GetParam().options());
  for (int round = 0; round < 50; ++round) {
    tracked::alive = 0;
    s.run([&] {
      const auto group = std::make_unique<task_group>();
      group->run([] { throw tracked(1); });
      std::atomic<int> caught{0};
      const auto wait = [&] {
        try {
          group->wait();
        } catch (const tracked& thrown) {
          caught += static_cast<int>(thrown.value);
        }
      };
      std::thread outside(wait);
      std::thread also_outside(wait);
      {
        const blocking here;
        outside.join();
        also_outside.join();
      }
      EXPECT_EQ(caught, 1);
    });
    ASSERT_EQ(tracked::alive, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(stress, stolen_exceptions, testing::ValuesIn(tests::configurations({2, 4, 16})),
                         tests::name_of);
INSTANTIATE_TEST_SUITE_P(stress, exceptions, testing::ValuesIn(tests::configurations({1, 2, 4, 16})), tests::name_of);

}  // namespace
}  // namespace filch
