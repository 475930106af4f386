// What each number of the options changes in what a scheduler does. Times are virtual.
#include <cstddef>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include <filch/filch.hpp>
#include <filch/platform/work.hpp>

#include "run_on.hpp"

namespace filch::vm {
namespace {

constexpr double us = 1e3;

/// Of a worker that makes eight tasks, and then is busy until the only thief has run what it gets.
statistics thefts_of_eight(const std::string& policy, bool half) {
  statistics counted;
  run_on(2, options{.policy = policy, .steal_half = half, .interrupt_after_ns = 50'000}, [&](scheduler& pool) {
    task_group tasks;
    for (int i = 0; i < 8; ++i) tasks.run([] { platform::charge(10 * us); });
    platform::charge(5000 * us);
    counted = pool.stats();
    tasks.wait();
  });
  return counted;
}

TEST(option_effects, steal_half_takes_half_of_what_is_there_each_time) {
  for (const char* const policy : {"standard", "lace", "hierarchical", "receiver", "receiver_blocking"}) {
    EXPECT_EQ(thefts_of_eight(policy, false).steals, 8U) << policy;
    EXPECT_EQ(thefts_of_eight(policy, true).steals, 4U) << policy;  // 4, 2, 1 and 1
  }
  // A sender deals by the clock, so all may not have gone by then.
  const statistics one = thefts_of_eight("sender", false);
  const statistics half = thefts_of_eight("sender", true);
  EXPECT_EQ(one.migrations, one.steals);
  EXPECT_GT(half.migrations, half.steals);
}

// When the first task is taken, the owner has eight others, of which it offers some at its next push.
TEST(option_effects, push_half_offers_half_of_what_waits) {
  const auto thefts = [](bool half) {
    std::uint64_t steals = 0;
    run_on(2, options{.policy = "lazy_depth", .push_half = half}, [&](scheduler& pool) {
      task_group tasks;
      const auto add = [&] { tasks.run([] { platform::charge(10 * us); }); };
      for (int i = 0; i < 8; ++i) add();
      platform::charge(100 * us);
      add();
      platform::charge(1000 * us);
      steals = pool.stats().steals;
      tasks.wait();
    });
    return steals;
  };
  EXPECT_EQ(thefts(false), 2U);
  EXPECT_EQ(thefts(true), 5U);
}

TEST(option_effects, spin_ns_is_how_long_an_idle_worker_searches_before_it_sleeps) {
  const auto sleeps_after = [](std::int64_t spin_ns, double ns) {
    std::uint64_t parks = 0;
    run_on(2, options{.policy = "standard", .spin_ns = spin_ns}, [&](scheduler& pool) {
      platform::charge(ns);
      parks = pool.stats().parks;
    });
    return parks;
  };
  EXPECT_EQ(sleeps_after(1'000'000, 900 * us), 0U);
  EXPECT_EQ(sleeps_after(1'000'000, 1100 * us), 1U);
  EXPECT_EQ(sleeps_after(10'000, 20 * us), 1U);
}

TEST(option_effects, spin_ns_is_how_long_a_worker_spins_in_a_join) {
  const auto sleeps_in_join = [](double ns) {
    std::uint64_t parks = 0;
    run_on(2, options{.policy = "standard", .spin_ns = 1'000'000}, [&](scheduler& pool) {
      fork_join([] { platform::charge(100 * us); },
                [&] {
                  platform::charge(100 * us + ns);
                  parks = pool.stats().parks;
                });
      EXPECT_EQ(pool.stats().steals, 1U);
    });
    return parks;
  };
  EXPECT_EQ(sleeps_in_join(900 * us), 0U);
  EXPECT_EQ(sleeps_in_join(1100 * us), 1U);
}

// Two workers are in the second socket, which look at each other that often before they look at the first one.
TEST(option_effects, level_attempts_keep_a_worker_in_its_own_socket) {
  const auto far_thefts = [](std::int64_t attempts) {
    int far = 0;
    run_on(18,
           options{.policy = "hierarchical", .level_attempts = attempts, .spin_ns = 1'000'000, .pinning = "compact"},
           [&](scheduler&) {
             parallel_for(0, 1000, [&](int) {
               if (this_worker() >= 16) ++far;
               platform::charge(1 * us);
             });
           });
    return far;
  };
  EXPECT_GT(far_thefts(1), 0);
  EXPECT_EQ(far_thefts(1'000'000), 0);
}

TEST(option_effects, stack_bytes_are_64_for_each_task_that_waits) {
  const auto run_at_once = [](std::size_t bytes) {
    int ran = 0;
    run_on(1, options{.stack_bytes = bytes}, [&](scheduler&) {
      task_group tasks;
      for (int i = 0; i < 200; ++i) tasks.run([&] { ++ran; });
      const int before_wait = ran;
      tasks.wait();
      EXPECT_EQ(ran, 200);
      ran = before_wait;
    });
    return ran;
  };
  EXPECT_EQ(run_at_once(4096), 200 - 64);
  EXPECT_EQ(run_at_once(8192), 200 - 128);
}

}  // namespace
}  // namespace filch::vm
