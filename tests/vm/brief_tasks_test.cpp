// Tasks that take less than a theft, beside a worker that looks for work all the time. All times are virtual.
#include <gtest/gtest.h>

#include <filch/filch.hpp>
#include <filch/vm.hpp>

#include "run_on.hpp"

namespace filch {
namespace {

double now_ns() { return vm::now_s() * 1e9; }

/// Two tasks of that length each.
void fork_two(double task_ns) {
  fork_join([=] { vm::charge(task_ns); }, [=] { vm::charge(task_ns); });
}

constexpr int forks = 1000;
constexpr int first_forks = 10;  // which the other worker may have taken before it is known that they are brief

// A theft of one costs its owner more than the bar allows.
TEST(brief_tasks, are_mostly_run_by_their_owner) {
  for (const int workers : {2, 16, 64}) {
    for (const double task_ns : {1.0, 30.0, 200.0}) {
      vm::run_on(workers, "standard", [=](scheduler& pool) {
        for (int i = 0; i < first_forks; ++i) fork_two(task_ns);
        pool.reset_stats();
        const double begin_ns = now_ns();
        for (int i = 0; i < forks; ++i) fork_two(task_ns);
        EXPECT_LE(now_ns() - begin_ns, forks * (1.1 * 2 * task_ns + 500)) << task_ns << " ns, workers: " << workers;
        const statistics seen = pool.stats();
        EXPECT_LE(seen.steals + seen.leaps, forks / 20U) << task_ns << " ns, workers: " << workers;
      });
    }
  }
}

TEST(brief_tasks, in_groups_are_mostly_run_by_their_owner) {
  vm::run_on(2, "standard", [=](scheduler& pool) {
    const auto run_two = [] {
      task_group group;
      for (int i = 0; i < 2; ++i) group.run([] { vm::charge(30); });
      group.wait();
    };
    for (int i = 0; i < first_forks; ++i) run_two();
    pool.reset_stats();
    for (int i = 0; i < forks; ++i) run_two();
    const statistics seen = pool.stats();
    EXPECT_LE(seen.steals + seen.leaps, forks / 20U);
  });
}

// What was before says nothing of the next one. Without a thief the two take 40 us; whoever takes one may have to be woken,
// and to find it among many workers.
void expect_long_ones_are_taken(int workers, const char* where) {
  constexpr double long_ns = 20'000;
  constexpr int rounds = 20;
  double sum_ns = 0;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < 50; ++i) fork_two(30);
    const double begin_ns = now_ns();
    fork_two(long_ns);
    sum_ns += now_ns() - begin_ns;
  }
  EXPECT_LE(sum_ns / rounds, 1.3 * long_ns) << where << ", workers: " << workers;
}

TEST(brief_tasks, do_not_hide_a_long_one) {
  for (const int workers : {2, 3, 8, 32}) {
    vm::run_on(workers, "standard", [=](scheduler&) { expect_long_ones_are_taken(workers, "in the root"); });
  }
  for (const int workers : {3, 8, 32}) {
    vm::run_on(workers, "standard", [=](scheduler&) {
      fork_join([] { vm::charge(2e6); }, [=] { expect_long_ones_are_taken(workers, "in a stolen task"); });
    });
  }
}

// There is never more than one task on offer.
TEST(brief_tasks, wake_no_worker_after_the_other) {
  constexpr double all_sleep_ns = 2e6;
  for (const int workers : {4, 16, 64}) {
    vm::run_on(workers, "standard", [=](scheduler& pool) {
      vm::charge(all_sleep_ns);
      pool.reset_stats();
      for (int i = 0; i < 8; ++i) fork_two(100);
      vm::charge(all_sleep_ns);
      EXPECT_LE(pool.stats().parks, 2U) << "workers: " << workers;
    });
  }
}

}  // namespace
}  // namespace filch
