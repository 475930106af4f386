#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <filch/fork_join.hpp>
#include <filch/task_group.hpp>

#include "support.hpp"

namespace filch {
namespace {

/// Run from outside, inside a scheduler with one worker, and inside one with several.
template <class Body>
void everywhere(Body body) {
  body();
  scheduler one({.workers = 1});
  one.run(body);
  scheduler four({.workers = 4});
  four.run(body);
}

TEST(task_group, runs_every_task_once) {
  everywhere([] {
    tests::account tasks(1000);
    task_group group;
    for (std::size_t i = 0; i < tasks.size(); ++i) group.run([&tasks, i] { tasks.ran(i); });
    EXPECT_EQ(group.wait(), group_status::complete);
    EXPECT_EQ(tasks.first_not(1), tasks.size());
  });
}

TEST(task_group, can_be_used_again_after_wait) {
  everywhere([] {
    task_group group;
    std::atomic<int> runs = 0;
    for (int round = 1; round <= 5; ++round) {
      for (int i = 0; i < 10; ++i) group.run([&] { ++runs; });
      group.wait();
      EXPECT_EQ(runs, 10 * round);
    }
  });
}

TEST(task_group, waits_for_nothing_when_there_is_nothing) {
  everywhere([] {
    task_group group;
    EXPECT_EQ(group.wait(), group_status::complete);
  });
}

template <std::size_t Bytes>
struct sized {
  std::array<unsigned char, Bytes> bytes;
  std::atomic<std::size_t>* sum;
  void operator()() const { sum->fetch_add(std::accumulate(bytes.begin(), bytes.end(), std::size_t{0})); }
};

template <std::size_t Bytes>
void run_sized(task_group& group, std::atomic<std::size_t>& sum) {
  sized<Bytes> closure{{}, &sum};
  closure.bytes.fill(1);
  group.run(closure);
}

TEST(task_group, takes_closures_of_every_size) {
  everywhere([] {
    task_group group;
    std::atomic<std::size_t> sum = 0;
    run_sized<1>(group, sum);
    run_sized<31>(group, sum);
    run_sized<32>(group, sum);  // with the pointer, exactly what fits into a slot
    run_sized<33>(group, sum);
    run_sized<200>(group, sum);
    run_sized<5000>(group, sum);
    group.wait();
    EXPECT_EQ(sum, 1U + 31 + 32 + 33 + 200 + 5000);
  });
}

/// Moves, but may throw while it does: must not be moved out of a slot.
struct careful {
  std::shared_ptr<int> alive;
  explicit careful(std::shared_ptr<int> p) : alive(std::move(p)) {}
  careful(const careful& other) : alive(other.alive) {}
  careful(careful&& other) noexcept(false) : alive(other.alive) {}
  careful& operator=(const careful&) = delete;
  careful& operator=(careful&&) = delete;
  ~careful() = default;
  void operator()() const { ++*alive; }
};

struct alignas(64) overaligned {
  std::atomic<int>* runs;
  void operator()() const {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(this) % 64, 0U);
    ++*runs;
  }
};

TEST(task_group, takes_closures_of_every_movability_and_destroys_them) {
  scheduler one({.workers = 1});
  one.run([] {
    const auto alive = std::make_shared<int>(0);
    std::atomic<int> runs = 0;
    {
      task_group group;
      group.run(careful(alive));
      group.run([p = std::make_unique<int>(1), &runs] { runs += *p; });
      group.run([alive, &runs] { ++runs; });
      group.run(overaligned{&runs});
      group.wait();
      EXPECT_EQ(alive.use_count(), 1);
    }
    EXPECT_EQ(*alive, 1);
    EXPECT_EQ(runs, 3);
  });
}

TEST(task_group, a_closure_may_spawn_where_it_stood) {
  // The owner's own tasks use the slot again while its closure runs.
  everywhere([] {
    std::atomic<int> sum = 0;
    task_group group;
    for (int i = 0; i < 20; ++i) {
      group.run([i, j = i + 1, &sum, k = i + 2] {
        task_group inner;
        for (int n = 0; n < 5; ++n) inner.run([&sum] { ++sum; });
        inner.wait();
        sum += j - i + k - i;
      });
    }
    group.wait();
    EXPECT_EQ(sum, 20 * (5 + 1 + 2));
  });
}

TEST(task_group, tasks_add_to_their_own_group) {
  everywhere([] {
    struct tree {
      static void grow(task_group& group, std::atomic<int>& nodes, int depth) {
        ++nodes;
        if (depth == 0) return;
        group.run([&group, &nodes, depth] { grow(group, nodes, depth - 1); });
        group.run([&group, &nodes, depth] { grow(group, nodes, depth - 1); });
      }
    };
    task_group group;
    std::atomic<int> nodes = 0;
    tree::grow(group, nodes, 10);
    group.wait();
    EXPECT_EQ(nodes, 2047);
  });
}

TEST(task_group, an_outer_group_gets_tasks_from_inside_nested_joins) {
  everywhere([] {
    task_group outer;
    std::atomic<int> runs = 0;
    outer.run([&] { ++runs; });
    fork_join([&] { outer.run([&] { ++runs; }); },
              [&] {
                task_group inner;
                inner.run([&] { outer.run([&] { ++runs; }); });
                inner.run([&] { ++runs; });
                inner.wait();
              });
    outer.run([&] { ++runs; });
    outer.wait();
    EXPECT_EQ(runs, 5);
  });
}

TEST(task_group, two_groups_may_be_waited_for_in_either_order) {
  everywhere([] {
    std::atomic<int> a_runs = 0;
    std::atomic<int> b_runs = 0;
    {
      task_group a;
      for (int i = 0; i < 10; ++i) a.run([&] { ++a_runs; });
      task_group b;
      for (int i = 0; i < 10; ++i) b.run([&] { ++b_runs; });
      a.wait();
      EXPECT_EQ(a_runs, 10);
      for (int i = 0; i < 10; ++i) a.run([&] { ++a_runs; });
      b.wait();
      EXPECT_EQ(b_runs, 10);
      a.wait();
      EXPECT_EQ(a_runs, 20);
    }
    // What was left on the stack is gone.
    task_group after;
    after.run([&] { ++a_runs; });
    after.wait();
    EXPECT_EQ(a_runs, 21);
  });
}

TEST(task_group, a_wait_inside_a_branch_runs_the_outer_groups_tasks) {
  everywhere([] {
    std::atomic<int> runs = 0;
    task_group outer;
    for (int i = 0; i < 5; ++i) outer.run([&] { ++runs; });
    int seen = 0;
    fork_join(
        [&] {
          outer.wait();
          seen = runs;
        },
        [] {});
    EXPECT_EQ(seen, 5);
    outer.run([&] { ++runs; });
    outer.wait();
    EXPECT_EQ(runs, 6);
  });
}

TEST(task_group, a_member_of_an_object_on_the_heap_may_outlive_the_branch_that_made_it) {
  everywhere([] {
    struct holder {
      task_group group;
    };
    std::unique_ptr<holder> made;
    std::optional<task_group> emplaced;
    std::atomic<int> runs = 0;
    fork_join(
        [&] {
          made = std::make_unique<holder>();
          made->group.run([&] { ++runs; });
          emplaced.emplace();
          emplaced->run([&] { ++runs; });
        },
        [] {});
    // Another branch at the same depth of the stack: the groups must not mistake it for the one they were made in.
    fork_join(
        [&] {
          made->group.run([&] { ++runs; });
          emplaced->run([&] { ++runs; });
        },
        [&] { ++runs; });
    made->group.wait();
    emplaced->wait();
    EXPECT_EQ(runs, 5);
  });
}

TEST(task_group, a_group_may_end_below_a_pending_branch) {
  everywhere([] {
    for (int round = 0; round < 100; ++round) {
      std::atomic<int> runs = 0;
      std::optional<task_group> group;
      group.emplace();
      for (int i = 0; i < 5; ++i) group->run([&] { ++runs; });
      fork_join([&] { group.reset(); }, [&] { ++runs; });
      fork_join([&] { ++runs; }, [&] { ++runs; });
      EXPECT_EQ(runs, 8);
    }
    task_group after;
    std::atomic<int> runs = 0;
    for (int i = 0; i < 5; ++i) after.run([&] { ++runs; });
    after.wait();
    EXPECT_EQ(runs, 5);
  });
}

TEST(task_group, a_group_left_in_a_branch_keeps_its_tasks_and_their_order) {
  everywhere([] {
    for (int round = 0; round < 100; ++round) {
      std::optional<task_group> group;
      std::atomic<int> runs = 0;
      fork_join(
          [&] {
            fork_join(
                [&] {
                  group.emplace();
                  for (int i = 0; i < 8; ++i) {
                    group->run([&runs, i] {
                      ++runs;
                      if (i >= 3) throw i;
                    });
                  }
                },
                [] {});
          },
          [] {});
      try {
        group->wait();
        FAIL() << "nothing was thrown";
      } catch (int first) {
        EXPECT_EQ(first, 3);
      }
      EXPECT_EQ(runs, 8);
    }
  });
}

TEST(task_group, the_first_exception_in_spawn_order_is_thrown_and_all_tasks_run) {
  everywhere([] {
    for (int round = 0; round < 50; ++round) {
      task_group group;
      std::atomic<int> runs = 0;
      for (int i = 0; i < 10; ++i) {
        group.run([i, &runs] {
          ++runs;
          if (i % 3 == 2) throw i;
        });
      }
      try {
        group.wait();
        FAIL() << "nothing was thrown";
      } catch (int thrown) {
        EXPECT_EQ(thrown, 2);
      }
      EXPECT_EQ(runs, 10);
      EXPECT_EQ(group.wait(), group_status::complete);  // the exception is gone
    }
  });
}

// Whoever adds the tasks, one after the other: a thread outside of the pool, the same one inside, a worker.
TEST(task_group, spawn_order_goes_through_all_threads) {
  scheduler pool({.workers = 3});
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const auto group = std::make_unique<task_group>();
    const auto last_without = static_cast<int>(random() % 12);
    int expected = -1;
    for (int i = 0; i < 24; ++i) {
      const bool throws = i > last_without && random() % 2 == 0;
      if (throws && expected < 0) expected = i;
      const auto add = [&group, i, throws] {
        group->run([i, throws] {
          if (throws) throw i;
        });
      };
      switch (i == 0 ? 1 : random() % 3) {  // the first one says whose group it is
        case 0:
          add();
          break;
        case 1:
          pool.run(add);
          break;
        default:
          pool.submit(add).get();
      }
    }
    int thrown = -1;
    try {
      group->wait();
    } catch (int which) {
      thrown = which;
    }
    ASSERT_EQ(thrown, expected) << "round " << round;
  }
}

TEST(task_group, cancel_skips_what_has_not_begun) {
  scheduler one({.workers = 1});
  one.run([] {
    task_group group;
    int runs = 0;
    for (int i = 0; i < 10; ++i) {
      group.run([&] {
        ++runs;
        group.cancel();
      });
    }
    EXPECT_EQ(group.wait(), group_status::canceled);
    EXPECT_EQ(runs, 1);
    group.run([&] { ++runs; });
    EXPECT_EQ(group.wait(), group_status::complete);
    EXPECT_EQ(runs, 2);
  });
}

TEST(task_group, cancel_reaches_tasks_that_run) {
  scheduler s({.workers = 3});
  s.run([] {
    task_group group;
    // One task that is sure to run, and ends only when another cancels: that one runs on this thread or a third.
    group.run([&] {
      while (!group.canceled()) std::this_thread::yield();
    });
    group.run([&] { group.cancel(); });
    EXPECT_EQ(group.wait(), group_status::canceled);
  });
}

TEST(task_group, a_stop_token_cancels) {
  everywhere([] {
    std::stop_source source;
    task_group group(source.get_token());
    source.request_stop();
    bool ran = false;
    group.run([&] { ran = true; });
    EXPECT_EQ(group.wait(), group_status::canceled);
    EXPECT_FALSE(ran);
  });
}

TEST(task_group, the_destructor_waits) {
  everywhere([] {
    std::atomic<int> runs = 0;
    {
      task_group group;
      for (int i = 0; i < 10; ++i) group.run([&] { ++runs; });
    }
    EXPECT_EQ(runs, 10);
  });
}

TEST(task_group, an_exception_on_its_way_out_skips_and_waits) {
  scheduler one({.workers = 1});
  int runs = 0;
  const auto body = [&] {
    task_group group;
    group.run([&] { ++runs; });
    throw std::runtime_error("out");
  };
  EXPECT_THROW(one.run(body), std::runtime_error);
  EXPECT_EQ(runs, 0);
  EXPECT_EQ(one.run([] { return std::get<0>(fork_join([] { return 1; }, [] {})); }), 1);
}

// Two groups that are filled and waited for in turn leave what they have joined below each other's tasks.
TEST(task_group, two_in_turn_without_end_stay_parallel) {
  scheduler s({.workers = 2, .stack_bytes = 4096});
  constexpr std::size_t rounds = 10'000;
  tests::account tasks(2 * rounds);
  std::atomic<std::size_t> ran_at_once{0};
  s.run([&] {
    const auto owner = std::this_thread::get_id();
    std::array<task_group, 2> groups;
    std::size_t adding = 0;  // the owner's
    for (std::size_t i = 0; i < 2 * rounds; ++i) {
      adding = i;
      groups[i / 2 % 2].run([&, i] {
        tasks.ran(i);
        if (std::this_thread::get_id() == owner && adding == i) ++ran_at_once;
      });
      adding = 2 * rounds;
      if (i % 2 == 1) groups[(i / 2 + 1) % 2].wait();
    }
  });
  EXPECT_EQ(tasks.first_not(1), tasks.size());
  EXPECT_LE(ran_at_once, rounds / 100);
}

// The task that adds it cannot run it, so its worker's queue is no place to leave it.
TEST(task_group, who_waits_for_a_stolen_task_runs_what_that_adds_to_the_group) {
  scheduler two({.workers = 2});
  two.run([] {
    std::atomic<bool> stolen = false;
    std::atomic<bool> added_has_run = false;
    bool in_time = false;
    task_group group;
    group.run([&] {
      stolen = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));  // the owner falls asleep
      group.run([&] { added_has_run = true; });
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (!added_has_run && std::chrono::steady_clock::now() < end) std::this_thread::yield();
      in_time = added_has_run;
    });
    while (!stolen) fork_join([] {}, [] {});  // answers whoever asks
    group.wait();
    EXPECT_TRUE(in_time);
  });
}

// Whoever adds the first detached task chooses whose they are. Those of another scheduler lie in its queues, and the owner's
// worker has one of the same number: its wait must leave them alone.
TEST(task_group, who_waits_for_a_stolen_task_leaves_those_of_another_scheduler_to_that) {
  constexpr std::size_t added = 64;
  scheduler two({.workers = 2});
  for (int round = 0; round < 20; ++round) {
    tests::account tasks(added);
    std::atomic<std::size_t> of_two = 0;
    two.run([&] {
      std::atomic<bool> have_been_added = false;
      std::atomic<bool> stolen = false;
      std::atomic<bool> may_end = false;
      task_group group;
      std::jthread outside([&] {
        scheduler::default_scheduler().run([&] {
          for (std::size_t i = 0; i < added; ++i) {
            group.run([&, i] {
              if (this_worker().scheduler == &two) ++of_two;
              while (!may_end) std::this_thread::yield();
              tasks.ran(i);
            });
          }
          have_been_added = true;
          while (!may_end) std::this_thread::yield();
        });
      });
      while (!have_been_added) std::this_thread::yield();
      group.run([&] {
        stolen = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));  // meanwhile the owner looks for something to do
        may_end = true;
      });
      while (!stolen) fork_join([] {}, [] {});  // answers whoever asks
      group.wait();
    });
    ASSERT_EQ(tasks.first_not(1), added);
    ASSERT_EQ(of_two, 0U);
  }
}

TEST(task_group, a_full_stack_runs_tasks_at_once) {
  scheduler s({.workers = 2, .stack_bytes = 4096});
  s.run([] {
    for (int round = 0; round < 20; ++round) {
      tests::account tasks(500);
      task_group group;
      for (std::size_t i = 0; i < tasks.size(); ++i) {
        group.run([&tasks, i] {
          tasks.ran(i);
          if (i >= 200) throw i;
        });
      }
      EXPECT_THROW(
          try { group.wait(); } catch (std::size_t first) {
            EXPECT_EQ(first, 200U);
            throw;
          },
          std::size_t);
      ASSERT_EQ(tasks.first_not(1), tasks.size());
    }
  });
}

}  // namespace
}  // namespace filch
