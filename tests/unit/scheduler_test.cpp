#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filch/scheduler.hpp>

#include "support.hpp"

namespace filch {
namespace {

long fib(int n) {
  if (n < 2) return n;
  const auto [a, b] = fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

TEST(this_worker, is_the_rank_in_the_innermost_scheduler) {
  EXPECT_EQ(this_worker(), -1);
  scheduler outer({.workers = 3});
  outer.run([&] {
    EXPECT_EQ(this_worker(), 0);
    scheduler inner({.workers = 2});
    inner.run([] { EXPECT_EQ(this_worker(), 0); });
    std::vector<int> ranks(3000, -1);
    parallel_for(std::size_t{0}, ranks.size(), [&](std::size_t i) { ranks[i] = this_worker(); });
    for (const int rank : ranks) EXPECT_TRUE(0 <= rank && rank < 3) << rank;
  });
  EXPECT_EQ(this_worker(), -1);
}

TEST(scheduler, run_returns_what_the_function_returns) {
  scheduler s({.workers = 2});
  EXPECT_EQ(s.run([] { return 42; }), 42);
  int x = 0;
  static_assert(std::is_same_v<decltype(s.run([&]() -> int& { return x; })), int&>);
  EXPECT_EQ(&s.run([&]() -> int& { return x; }), &x);
  EXPECT_EQ(*s.run([] { return std::make_unique<int>(5); }), 5);
  s.run([] {});
}

TEST(scheduler, may_be_made_of_a_number_of_workers) {
  scheduler three(3);
  EXPECT_EQ(three.workers(), 3);
  EXPECT_EQ(three.run([] { return parallel_reduce(0, 100, 0); }), 4950);
  EXPECT_THROW(scheduler(-1), std::invalid_argument);
  EXPECT_EQ(scheduler({}).workers(), scheduler().workers());
}

TEST(scheduler, can_be_destroyed_in_a_child_process) {
  const options with_ticker{.workers = 3, .policy = "sender", .interrupt_every_ns = 500'000};
  for (const options& chosen : {options{.workers = 3}, with_ticker}) {
    std::optional<scheduler> s(std::in_place, chosen);
    EXPECT_EQ(s->run([] { return fib(10); }), 55);
    const pid_t child = fork();
    ASSERT_NE(child, -1);
    if (child == 0) {
      alarm(10);
      s.reset();
      _exit(0);
    }
    int status = 1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << s->policy();
    EXPECT_EQ(s->run([] { return fib(10); }), 55);
  }
}

TEST(scheduler, a_child_process_leaves_submitted_tasks_to_its_parent) {
  for (const int workers : {1, 3}) {
    std::optional<scheduler> s(std::in_place, options{.workers = workers});
    std::atomic<int> begun = 0;
    std::atomic<bool> may_end = false;
    for (int i = 0; i != 2 * workers; ++i) {
      static_cast<void>(s->submit([&] {
        ++begun;
        while (!may_end) std::this_thread::yield();
      }));
    }
    while (begun == 0) std::this_thread::yield();
    const pid_t child = fork();
    ASSERT_NE(child, -1);
    if (child == 0) {
      alarm(10);
      may_end = true;
      const int before = begun;
      s.reset();
      _exit(begun == before ? 0 : 1);
    }
    int status = 1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << workers;
    may_end = true;
    s.reset();
    EXPECT_EQ(begun, 2 * workers);
  }
}

TEST(scheduler, run_throws_what_the_function_throws) {
  scheduler s({.workers = 2});
  EXPECT_THROW(s.run([] { throw std::runtime_error("out"); }), std::runtime_error);
  EXPECT_EQ(s.run([] { return fib(10); }), 55);
}

TEST(scheduler, run_inside_run_stays_where_it_is) {
  scheduler s({.workers = 2});
  EXPECT_EQ(s.run([&] { return s.run([&] { return fib(12); }); }), 144);
}

TEST(scheduler, the_default_scheduler_serves_threads_outside_of_any) {
  EXPECT_EQ(fib(15), 610);
  EXPECT_EQ(&scheduler::default_scheduler(), &scheduler::default_scheduler());
  std::thread other([] { EXPECT_EQ(fib(15), 610); });
  other.join();
}

// The ended one lives until its task does.
TEST(scheduler, made_where_one_was_that_its_own_task_has_ended_is_another_one) {
  std::optional<scheduler> pool(std::in_place, options{.workers = 3});
  pool->run([&] {
    const int before = this_worker().count;
    pool.reset();
    pool.emplace(options{.workers = 2});
    pool->run([&] {
      EXPECT_EQ(this_worker().count, pool->most_indices());
      EXPECT_EQ(this_worker().scheduler, &*pool);
      worker_local<int> all(*pool, 7);
      EXPECT_EQ(all.local(), 7);
    });
    EXPECT_EQ(this_worker().count, before);
    worker_local<int> all(*pool, 7);
    EXPECT_THROW(all.local(), std::logic_error);
  });
}

TEST(scheduler, one_inside_the_other) {
  scheduler outer({.workers = 3});
  scheduler inner({.workers = 2, .policy = "chase_lev"});
  const long sum = outer.run([&] {
    const auto [a, b] = fork_join([&] { return inner.run([] { return fib(15); }); },
                                  [&] { return inner.run([&] { return outer.run([] { return fib(15); }); }); });
    return a + b;
  });
  EXPECT_EQ(sum, 1220);
}

TEST(scheduler, counts_what_happens_between_workers) {
  scheduler s({.workers = 2, .policy = "lace"});
  while (s.stats().steals < 3) s.run([] { fib(20); });
  const statistics counted = s.stats();
  EXPECT_GT(counted.offers, 0U);
  s.reset_stats();
  EXPECT_EQ(s.stats().offers, 0U);
}

/// Processor time of the whole process in seconds.
double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// A stretch of idleness that ends while it is looked at may seem to be longer than it turns out to be.
TEST(scheduler, forgets_no_more_than_there_was) {
  scheduler s({.workers = 2});
  std::atomic<bool> over{false};
  std::thread caller([&] {
    while (!over) s.run([] { fork_join([] {}, [] {}); });
  });
  constexpr std::uint64_t hour_ns = 3'600'000'000'000;
  for (int i = 0; i < 20'000; ++i) {
    s.reset_stats();
    const statistics now = s.stats();
    ASSERT_LT(now.idle_ns, hour_ns);
    ASSERT_LT(now.wait_ns, hour_ns);
  }
  over = true;
  caller.join();
}

TEST(scheduler, an_idle_pool_uses_no_processor) {
  scheduler s({.workers = 4});
  s.run([] { fib(18); });
  // All three threads are asleep once nobody has parked for a while; how long that takes is the machine's business.
  const auto parked = [&] { return s.stats().parks; };
  std::uint64_t before = parked();
  do {
    before = parked();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // time for threads to fall asleep, not to be in time
  } while (parked() != before);
  const double cpu = cpu_seconds();
  std::this_thread::sleep_for(std::chrono::seconds(1));  // the time in which nothing may happen
  EXPECT_LT(cpu_seconds() - cpu, 0.05);
  EXPECT_EQ(parked(), before);
}

TEST(scheduler, an_offer_wakes_a_sleeping_worker) {
  scheduler s({.workers = 2});
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // lets the other worker fall asleep; it may also not
    std::atomic<bool> taken = false;
    // The first branch ends only when another worker has run the second one: a lost wake-up would hang here.
    s.run([&] {
      fork_join(
          [&] {
            while (!taken) std::this_thread::yield();
          },
          [&] { taken = true; });
    });
  }
}

TEST(scheduler, a_detached_task_wakes_a_sleeping_worker) {
  scheduler s({.workers = 2});
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // as above
    std::atomic<bool> taken = false;
    s.run([&] {
      const auto group = std::make_unique<task_group>();  // on the heap: its tasks are detached
      group->run([&] { taken = true; });
      while (!taken) std::this_thread::yield();
      group->wait();
    });
  }
}

}  // namespace
}  // namespace filch
