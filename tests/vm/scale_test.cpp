// How the scheduler scales on many virtual cores. All times are virtual, so that the bars hold on every computer.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <filch/filch.hpp>
#include <filch/platform/memory.hpp>
#include <filch/platform/work.hpp>
#include <filch/vm/simulation.hpp>

#include "run_on.hpp"

namespace filch::vm {
namespace {

constexpr double task_s = 5e-6;

void work_for(double seconds) { platform::charge(seconds * 1e9); }

/// Runs the program inside a scheduler. Seconds that it measures.
double seconds_on(int workers, const std::function<double()>& program) {
  double seconds = 0;
  run_on(workers, "standard", [&](scheduler&) { seconds = program(); });
  return seconds;
}

double seconds_of(const std::function<void()>& program) {
  const double begin_s = now_s();
  program();
  return now_s() - begin_s;
}

/// The share of the workers' time that tasks took, which the program runs.
double efficiency(int workers, std::size_t tasks, const std::function<void()>& program) {
  const double seconds = seconds_on(workers, [&] { return seconds_of(program); });
  return static_cast<double>(tasks) * task_s / (seconds * workers);
}

void report(const std::string& name, double figure) {
  std::cout << name << ": " << figure << std::endl;
  testing::Test::RecordProperty(name, std::to_string(figure));
}

// One thread fills one group.
TEST(scale, one_group_filled_by_one_thread) {
  constexpr std::size_t tasks = 20'000;
  const double share = efficiency(64, tasks, [] {
    const auto group = std::make_unique<task_group>();
    for (std::size_t i = 0; i < tasks; ++i) group->run([] { work_for(task_s); });
    group->wait();
  });
  report("one_producer", share);
  EXPECT_GE(share, 0.8);
}

// A scheduler of one worker runs what is submitted on a thread that begins after the first task has come. It takes as many at a
// time as others do.
TEST(scale, threads_that_come_later_take_many_submitted_tasks) {
  constexpr int tasks = 8000;
  std::uint64_t visits = 0;
  int ran = 0;  // by that thread
  simulation machine(load_machine("generic", MACHINES_FOLDER), 4, 32);
  machine.run([&] {
    scheduler pool({.workers = 1});
    for (int i = 0; i < tasks; ++i) static_cast<void>(pool.submit([&ran] { ++ran; }));
    while (ran < tasks) work_for(task_s);
    visits = pool.stats().steals;
  });
  report("visits", static_cast<double>(visits));
  EXPECT_GE(visits, 1U);
  EXPECT_LE(visits, tasks / 16);
}

// All workers submit tasks, and make continuations. None of that writes what all of them write.
TEST(scale, workers_that_submit_do_not_wait_for_each_other) {
  constexpr int workers = 64;
  constexpr int each = 100;
  double share = 0;
  run_on(workers, "standard", [&](scheduler& pool) {
    const double seconds = seconds_of([&] {
      task_group group;
      for (int i = 0; i < workers; ++i) {
        group.run([&] {
          std::vector<future<>> made;
          for (int task = 0; task < each; ++task) {
            made.push_back(pool.submit([] { work_for(task_s); }).then([] { work_for(task_s); }));
          }
          for (const future<>& last : made) last.wait();
        });
      }
      group.wait();
    });
    share = 2 * each * task_s / seconds;
  });
  report("submitted", share);
  EXPECT_GE(share, 0.5);
}

double seconds_of_short_tasks(const std::string& policy) {
  double seconds = 0;
  run_on(16, policy, [&](scheduler&) {
    seconds = seconds_of([] {
      task_group group;
      for (int i = 0; i < 20'000; ++i) group.run([] { work_for(1e-6); });
      group.wait();
    });
  });
  return seconds;
}

// One thread fills a group on its task stack. Who comes for a task keeps the others waiting for longer than it takes, so thieves
// take several.
TEST(scale, short_tasks_are_taken_several_at_a_time) {
  const double gain = seconds_of_short_tasks("lace") / seconds_of_short_tasks("standard");
  report("gain", gain);
  EXPECT_GT(gain, 2);
}

// What tasks have taken so far says nothing of the next group's: a thief that took several long ones would keep them from others,
// who find nothing.
TEST(scale, long_tasks_after_short_ones_are_shared) {
  constexpr int workers = 16;
  constexpr double long_s = 1e-3;
  for (const int rounds : {1, 2, 4}) {
    const double seconds = seconds_on(workers, [&] {
      const auto group_of = [](int tasks, double each_s) {
        task_group group;
        for (int i = 0; i < tasks; ++i) group.run([=] { work_for(each_s); });
        group.wait();
      };
      for (int i = 0; i < 20; ++i) group_of(2'000, 5e-8);
      return seconds_of([&] { group_of(rounds * workers, long_s); });
    });
    report("rounds_" + std::to_string(rounds), seconds / long_s);
    EXPECT_LT(seconds / long_s, rounds + 1.5);
  }
}

// Two iterations for each worker. One that has run its own, and waits for those that it gave away, takes others of the loop
// that nobody has begun; else there would be three rounds.
TEST(scale, waiters_of_a_loop_take_any_part_of_it) {
  constexpr int workers = 16;
  constexpr int rounds = 2;
  constexpr int loops = 64;
  constexpr double long_s = 2e-4;
  const double seconds = seconds_on(workers, [] {
    const auto loop = [] { parallel_for(0, rounds * workers, [](int) { work_for(long_s); }); };
    loop();
    return seconds_of([&] {
      for (int i = 0; i < loops; ++i) loop();
    });
  });
  report("rounds", seconds / loops / long_s);
  EXPECT_LT(seconds / loops / long_s, 2.3);
}

// The iterations of a loop have a group each.
TEST(scale, a_group_for_each_iteration) {
  constexpr std::size_t groups = 640;
  constexpr std::size_t tasks = 32;
  const double share = efficiency(64, groups * tasks, [] {
    parallel_for(std::size_t{0}, groups, [](std::size_t) {
      const auto group = std::make_unique<task_group>();
      for (std::size_t i = 0; i < tasks; ++i) group->run([] { work_for(task_s); });
      group->wait();
    });
  });
  report("many_groups", share);
  EXPECT_GE(share, 0.8);
}

void tree_of_groups(int depth) {
  work_for(task_s);
  if (depth == 0) return;
  const auto group = std::make_unique<task_group>();
  for (int i = 0; i < 2; ++i) group->run([depth] { tree_of_groups(depth - 1); });
  group->wait();
}

// A quarter of the workers wait for one group, and fall asleep again and again, while the others fill it and run its tasks.
TEST(scale, waiters_that_sleep_do_not_hold_up_those_who_work) {
  constexpr int workers = 256;
  constexpr int makers = 192;
  constexpr int each = 10;
  constexpr double long_s = 2e-4;
  const auto fill_and_wait = [] {
    const auto outer = std::make_unique<task_group>();
    const auto group = std::make_unique<task_group>();
    for (int i = 0; i < workers; ++i) {
      outer->run([&group, i] {
        if (i >= makers) {
          work_for(2e-5);  // until there are some
          group->wait();
        } else {
          for (int task = 0; task < each; ++task) group->run([] { work_for(long_s); });
        }
      });
    }
    outer->wait();
    group->wait();
  };
  const double seconds = seconds_on(workers, [&] {
    fill_and_wait();
    return seconds_of(fill_and_wait);
  });
  const double share = makers * each * long_s / (seconds * workers);
  report("share", share);
  EXPECT_GE(share, 0.7);
}

// Many run tasks of a group, and only the last of them has anything for who waits. That one looks at all of them before it sleeps.
TEST(scale, waiters_look_at_all_who_run_tasks_of_their_group) {
  constexpr int workers = 128;
  int ran_by = -1;
  run_on(workers, options{.policy = "standard", .spin_ns = 1000}, [&](scheduler&) {
    platform::atomic<int> begun{0};
    const auto await_all = [&] {
      while (begun.load(std::memory_order_relaxed) < workers - 1) work_for(1e-6);
    };
    const auto group = std::make_unique<task_group>();
    for (int i = 1; i < workers; ++i) {
      group->run([&] {
        begun.fetch_add(1, std::memory_order_relaxed);
        await_all();
        if (this_worker().index == workers - 1) {
          fork_join([] { work_for(2e-3); }, [&] { ran_by = this_worker().index; });
        } else {
          work_for(5e-3);
        }
      });
    }
    await_all();
    work_for(1e-4);
    group->wait();
  });
  EXPECT_EQ(ran_by, 0);
}

// Tasks of groups have groups of their own.
TEST(scale, groups_within_groups) {
  constexpr int depth = 13;
  const double share = efficiency(64, (2U << depth) - 1, [] { tree_of_groups(depth); });
  report("tree_of_groups", share);
  EXPECT_GE(share, 0.8);
}

void tree_in_one_group(task_group& group, int depth) {
  work_for(task_s);
  if (depth == 0) return;
  for (int i = 0; i < 2; ++i) group.run([&group, depth] { tree_in_one_group(group, depth - 1); });
}

// Tasks of a group add to it.
TEST(scale, tasks_that_add_to_their_group) {
  constexpr int depth = 13;
  const double share = efficiency(64, (2U << depth) - 1, [] {
    const auto group = std::make_unique<task_group>();
    tree_in_one_group(*group, depth);
    group->wait();
  });
  report("tree_in_one_group", share);
  EXPECT_GE(share, 0.8);
}

TEST(scale, two_groups_side_by_side_cost_as_much_as_one) {
  // The two workers hinder each other more or less, as it comes; so the mean of several runs.
  const auto fill = [](std::size_t groups) {
    double sum_s = 0;
    for (std::size_t tasks = 3'000; tasks < 5'000; tasks += 100) {
      sum_s += seconds_on(2, [groups, tasks] {
        return seconds_of([groups, tasks] {
          std::vector<std::unique_ptr<task_group>> all;
          for (std::size_t i = 0; i < groups; ++i) all.push_back(std::make_unique<task_group>());
          for (std::size_t i = 0; i < tasks; ++i) all[i % groups]->run([] {});
          for (const auto& group : all) group->wait();
        });
      });
    }
    return sum_s;
  };
  const double ratio = fill(2) / fill(1);
  report("two_groups", ratio);
  EXPECT_LE(ratio, 1.5);
}

TEST(scale, the_order_of_waits_does_not_matter) {
  constexpr std::size_t groups = 2'000;
  const auto wait_in_order = [](bool newest_first) {
    return seconds_on(1, [newest_first] {
      std::vector<std::unique_ptr<task_group>> all;
      for (std::size_t i = 0; i < groups; ++i) {
        all.push_back(std::make_unique<task_group>());
        all.back()->run([] {});
      }
      if (newest_first) std::reverse(all.begin(), all.end());
      return seconds_of([&] {
        for (const auto& group : all) group->wait();
      });
    });
  };
  const double ratio = wait_in_order(true) / wait_in_order(false);
  report("newest_first", ratio);
  EXPECT_LE(ratio, 1.2);
}

// Values of reductions meet under one lock of the scheduler, and whoever begins or ends a search counts that in one
// word.
TEST(scale, reductions_side_by_side_cost_as_much_as_loops) {
  static constexpr int calls = 256;
  static constexpr int leaves = 128;
  const double loops_s = seconds_on(64, [] {
    return seconds_of(
        [] { parallel_for(0, calls, [](int) { parallel_for(0, leaves, [](int) { work_for(task_s); }); }); });
  });
  const double reductions_s = seconds_on(64, [] {
    return seconds_of([] {
      parallel_for(0, calls, [](int) {
        const int sum = parallel_reduce(
            0, leaves, 0,
            [](int) {
              work_for(task_s);
              return 1;
            },
            std::plus<>{});
        EXPECT_EQ(sum, leaves);
      });
    });
  });
  report("loops", calls * leaves * task_s / (loops_s * 64));
  report("reductions", calls * leaves * task_s / (reductions_s * 64));
  EXPECT_LE(reductions_s / loops_s, 1.05);
}

/// Who has begun an iteration of a loop, and when.
struct participation {
  std::size_t by_then = 0;  ///< workers that began within 0.6 ms
  double seconds = 0;       ///< of the whole loop
};

participation run_from_sleep(int workers, std::size_t iterations) {
  constexpr double in_time_s = 0.6e-3;
  participation found;
  std::vector<double> begun_s(static_cast<std::size_t>(workers), 1);
  found.seconds = seconds_on(workers, [&] {
    work_for(1e-3);  // everybody falls asleep meanwhile
    const double begin_s = now_s();
    parallel_for(std::size_t{0}, iterations, [&](std::size_t) {
      double& first_s = begun_s[static_cast<std::size_t>(this_worker())];
      first_s = std::min(first_s, now_s() - begin_s);
      work_for(1e-3);
    });
    return now_s() - begin_s;
  });
  found.by_then =
      static_cast<std::size_t>(std::count_if(begun_s.begin(), begun_s.end(), [&](double s) { return s <= in_time_s; }));
  return found;
}

// A loop wakes a pool that sleeps as fast as a tree grows.
TEST(scale, a_loop_wakes_everybody) {
  const participation found = run_from_sleep(256, 256);
  report("participants", static_cast<double>(found.by_then));
  report("seconds", found.seconds);
  EXPECT_EQ(found.by_then, 256U);
}

}  // namespace
}  // namespace filch::vm
