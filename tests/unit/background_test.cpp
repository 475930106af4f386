// Tasks of no construct: submit(), continuations, blocked workers.
#include "scheduler/background.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <semaphore>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <filch/filch.hpp>

#include "scheduler/scheduler_core.hpp"
#include "support.hpp"
#include "worker/sleepers.hpp"

namespace filch {
namespace {

long fib(int n) {
  if (n < 2) return n;
  const auto [a, b] = fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

class background : public testing::TestWithParam<tests::configuration> {
 protected:
  scheduler pool_{GetParam().options()};
};

TEST_P(background, threads_outside_submit_and_wait) {
  const future<long> number = pool_.submit([] { return fib(15); });
  const future<> nothing = pool_.submit([] {});
  static_assert(std::is_same_v<decltype(pool_.submit([]() -> const int& { std::terminate(); })), future<int>>);
  EXPECT_EQ(number.get(), 610);
  nothing.wait();
  EXPECT_TRUE(nothing.is_ready());
  EXPECT_EQ(*pool_.submit([only = std::make_unique<int>(7)]() mutable { return std::move(only); }).get(), 7);
}

TEST_P(background, waits_may_end_before_a_future_is_ready) {
  using std::chrono::milliseconds;
  using clock = std::chrono::steady_clock;
  const auto check = [](const future<int>& late, promise<int>& made) {
    EXPECT_FALSE(late.wait_for(milliseconds(0)));
    EXPECT_FALSE(late.wait_for(milliseconds(-1)));
    EXPECT_FALSE(late.wait_for(std::chrono::duration<double>(std::nan(""))));
    const clock::time_point begin = clock::now();
    EXPECT_FALSE(late.wait_for(milliseconds(3)));
    EXPECT_GE(clock::now() - begin, milliseconds(3));
    EXPECT_FALSE(late.wait_until(clock::now() + milliseconds(1)));
    EXPECT_FALSE(late.wait_until(std::chrono::system_clock::now() + std::chrono::duration<double>(0.001)));
    std::thread later([&made] {
      std::this_thread::sleep_for(milliseconds(2));
      made.put(7);
    });
    EXPECT_TRUE(late.wait_for(std::chrono::hours::max()));
    EXPECT_EQ(late.get(), 7);
    EXPECT_TRUE(late.wait_for(milliseconds(0)));
    EXPECT_TRUE(late.wait_until(clock::time_point::min()));
    later.join();
  };
  promise<int> outside;
  check(outside.get_future(), outside);
  promise<int> inside;
  pool_.run([&] { check(inside.get_future(), inside); });
  // Of what nobody has begun: a worker runs it.
  EXPECT_TRUE(pool_.run([&] { return pool_.submit([] { return fib(10); }).wait_for(std::chrono::hours(1)); }));
  // Of what others are in the middle of, which goes on after that; and of what waits for it.
  std::atomic<bool> may_end = false;
  std::atomic<bool> has_begun = false;
  const future<int> begun = pool_.submit([&] {
    has_begun = true;
    const blocking here;
    while (!may_end) std::this_thread::yield();
    return 1;
  });
  const future<int> following = begun.then([](int i) { return i + 1; });
  const auto all = when_all(begun, following);
  const auto all_late = [&] {
    return begun.wait_for(milliseconds(2)) || following.wait_for(milliseconds(2)) || all.wait_for(milliseconds(2));
  };
  while (!has_begun) std::this_thread::yield();
  EXPECT_FALSE(all_late());
  EXPECT_FALSE(pool_.run(all_late));
  may_end = true;
  EXPECT_EQ(following.get(), 2);
  EXPECT_TRUE(all.wait_for(std::chrono::seconds(60)));
}

TEST_P(background, who_only_looks_sees_it_ready) {
  std::atomic<bool> ran = false;
  const future<> submitted = pool_.submit([&] { ran = true; });
  while (!submitted.is_ready()) std::this_thread::yield();
  EXPECT_TRUE(ran);
}

/// Copied, never moved; says how many there are.
struct counted {
  explicit counted(std::atomic<int>& of) noexcept : alive(&of) { ++*alive; }
  counted(const counted& from) noexcept : alive(from.alive) { ++*alive; }
  counted& operator=(const counted&) = delete;
  ~counted() { --*alive; }
  std::atomic<int>* alive;
};

// Whoever sees that a future is ready may end what the objects of its task refer to.
TEST_P(background, objects_of_a_task_end_before_its_future_is_ready) {
  for (int round = 0; round != 100; ++round) {
    std::atomic<int> alive = 0;
    const auto made = pool_.submit([&alive] { return counted(alive); });
    while (!made.is_ready()) std::this_thread::yield();
    ASSERT_EQ(alive, 1) << "but its value";
    std::atomic<int> of_source = 0;
    const auto continued = pool_.submit([&of_source] { return counted(of_source); }).then([](const counted& /*c*/) {});
    while (!continued.is_ready()) std::this_thread::yield();
    ASSERT_EQ(of_source, 0);
  }
}

// Who runs a task because it waits for the future leaves it in its queue; nobody has the value there.
TEST_P(background, a_value_ends_with_its_last_future) {
  std::atomic<int> alive = 0;
  const auto make = [&alive] { return counted(alive); };
  const auto use = [&](const char* where) {
    for (int round = 0; round != 20; ++round) {
      static_cast<void>(pool_.submit(make).get());
      ASSERT_EQ(alive, 0) << where;
      static_cast<void>(pool_.submit(make).then([](const counted& of) { return of; }).get());
      ASSERT_EQ(alive, 0) << where;
      const auto failed = [&]() -> int { throw counted(alive); };
      EXPECT_THROW(static_cast<void>(pool_.submit(failed).get()), counted);
      ASSERT_EQ(alive, 0) << where;
    }
  };
  use("outside");
  pool_.run([&] { use("in a worker"); });
  promise<counted> given;
  given.put(alive);
  promise<counted> other;
  auto value = other.get_future();
  value = {};
  other.put(alive);
  EXPECT_EQ(alive, 2) << "of promises, which may have further futures";
  given = {};
  other = {};
  EXPECT_EQ(alive, 0);
  std::atomic<int> ran = 0;
  for (int i = 0; i != 20; ++i) {
    static_cast<void>(pool_.submit([&] {
      counted made(alive);
      ++ran;
      return made;
    }));
  }
  while (ran != 20 || alive != 0) std::this_thread::yield();
}

TEST_P(background, exceptions_become_the_futures) {
  const future<int> failed = pool_.submit([]() -> int { throw std::runtime_error("out"); });
  EXPECT_THROW(static_cast<void>(failed.get()), std::runtime_error);
  EXPECT_THROW(static_cast<void>(failed.then([](int i) { return i; }).get()), std::runtime_error);
}

TEST_P(background, tasks_submit_and_wait_however_deep) {
  // Each waits for the next: one worker alone has to run them all. The list of what a worker is in the middle of has as many
  // entries as its stack has slots, 64 of them.
  options chosen = GetParam().options();
  chosen.stack_bytes = 4096;
  scheduler pool(chosen);
  struct chain {
    scheduler& pool;
    int down(int n) {
      return n == 0 ? 0 : 1 + pool.submit([this, n] { return down(n - 1); }).get();
    }
  } tasks{pool};
  EXPECT_EQ(pool.run([&] { return tasks.down(300); }), 300);
  EXPECT_EQ(tasks.down(50), 50);
}

TEST_P(background, many_at_once_from_everywhere) {
  constexpr std::size_t each = 200;
  tests::account runs(6 * each);
  const auto submit_from = [&](std::size_t first) {
    std::vector<future<>> all;
    for (std::size_t i = first; i != first + each; ++i) all.push_back(pool_.submit([&runs, i] { runs.ran(i); }));
    for (const future<>& f : all) f.wait();
  };
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t != 4; ++t) threads.emplace_back([&, t] { submit_from(t * each); });
  pool_.run([&] { fork_join([&] { submit_from(4 * each); }, [&] { submit_from(5 * each); }); });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(runs.first_not(1), runs.size());
}

TEST_P(background, nobody_has_to_wait) {
  tests::account runs(100);
  {
    scheduler pool(GetParam().options());
    for (std::size_t i = 0; i != runs.size(); ++i) static_cast<void>(pool.submit([&runs, i] { runs.ran(i); }));
  }
  EXPECT_EQ(runs.first_not(1), runs.size());
}

TEST_P(background, tasks_are_blocked_as_the_scheduler_ends) {
  tests::account runs(10 * 16);
  for (std::size_t round = 0; round != 10; ++round) {
    scheduler pool(GetParam().options());
    for (std::size_t i = 16 * round; i != 16 * (round + 1); ++i) {
      static_cast<void>(pool.submit([&runs, i] {
        for (int times = 0; times != 4; ++times) {
          const blocking here;
          std::this_thread::sleep_for(std::chrono::microseconds(20));
        }
        runs.ran(i);
      }));
    }
  }
  EXPECT_EQ(runs.first_not(1), runs.size());
}

// Until the destructor of the scheduler that it was submitted to has begun: nobody from outside may use that then.
void await_end_of_home(const future<>& submitted) {
  auto& link = detail::future_access::state(submitted)->maker()->link();
  while (link.with([](detail::scheduler_core&) {})) std::this_thread::yield();
}

// A task goes on submitting, and waits for that, when the scheduler has begun to end.
TEST_P(background, tasks_that_submit_and_wait_end_with_the_scheduler) {
  int result = 0;
  {
    scheduler ending(GetParam().options());
    std::atomic<bool> begun = false;
    const future<> task = ending.submit([&] {
      const future<> before = ending.submit([] {});
      begun = true;
      await_end_of_home(before);
      scheduler inner({.workers = 1});
      result = ending.submit([] { return 3; }).get() + inner.run([&] { return ending.submit([] { return 4; }).get(); });
    });
    while (!begun) std::this_thread::yield();
  }
  EXPECT_EQ(result, 7);
}

// So does what goes on when a task is over that was made then.
TEST_P(background, continuations_of_tasks_are_run_as_the_scheduler_ends) {
  std::atomic<int> ran = 0;
  {
    scheduler ending(GetParam().options());
    std::atomic<bool> begun = false;
    const future<> task = ending.submit([&] {
      const future<> before = ending.submit([] {});
      begun = true;
      await_end_of_home(before);
      ending.submit([&] { ++ran; }).then([&] { ++ran; });
    });
    while (!begun) std::this_thread::yield();
  }
  EXPECT_EQ(ran, 2);
}

// Who has a task that is blocked is replaced by a thread that sleeps; the other worker has ended, and searches no more.
TEST(background_end, what_a_blocked_task_submits_is_run) {
  for (const char* const policy : {"standard", "receiver", "adws"}) {
    std::atomic<int> ended = 0;
    std::atomic<bool> begun = false;
    bool was_run = false;
    {
      scheduler ending({.workers = 3, .policy = policy, .on_stop = [&](int /*index*/) { ++ended; }});
      ending.submit([&] {
        const blocking here;
        begun = true;
        while (ended == 0 || !ending.core().idle_workers().somebody_sleeps()) std::this_thread::yield();
        std::atomic<bool> ran = false;
        ending.submit([&] { ran = true; });
        while (!ran) std::this_thread::yield();
        was_run = true;
      });
      while (!begun) std::this_thread::yield();
    }
    EXPECT_TRUE(was_run) << policy;
  }
}

TEST_P(background, what_blocked_tasks_wait_for_runs_as_the_scheduler_ends) {
  // Each of them submits, and blocks until that has run. Some begin when the workers' threads have ended.
  tests::account runs(20);
  for (std::size_t round = 0; round != 10; ++round) {
    scheduler pool(GetParam().options());
    for (std::size_t i = 2 * round; i != 2 * (round + 1); ++i) {
      static_cast<void>(pool.submit([&pool, &runs, i] {
        std::atomic<bool> ran = false;
        static_cast<void>(pool.submit([&ran] { ran = true; }));
        const blocking here;
        while (!ran) std::this_thread::yield();
        runs.ran(i);
      }));
    }
  }
  EXPECT_EQ(runs.first_not(1), runs.size());
}

TEST_P(background, continuations_follow_each_other) {
  future<int> last = pool_.run([&] {
    future<int> value = pool_.submit([] { return 1; });
    for (int i = 0; i != 100; ++i) value = value.then([](int v) { return v + 1; });
    return value;
  });
  EXPECT_EQ(last.get(), 101);
  pool_.run([&] { EXPECT_EQ(pool_.submit([] {}).then([] { return 5; }).get(), 5); });
}

TEST_P(background, who_waits_for_a_continuation_runs_what_it_waits_for) {
  // All threads of the scheduler are in the middle of something.
  const int threads = GetParam().workers - 1;
  std::atomic<int> busy = 0;
  std::atomic<bool> over = false;
  std::vector<future<>> occupied;
  for (int i = 0; i < threads; ++i) {
    occupied.push_back(pool_.submit([&] {
      ++busy;
      while (!over) std::this_thread::yield();
    }));
  }
  while (busy != threads) std::this_thread::yield();
  future<int> last;
  pool_.run([&] {
    last = pool_.submit([] { return 1; });
    for (int i = 0; i < 10; ++i) last = last.then([](int n) { return n + 1; });
  });
  EXPECT_EQ(last.get(), 11);
  EXPECT_EQ(pool_.run([&] { return pool_.submit([] { return 1; }).then([](int n) { return n + 1; }).get(); }), 2);
  over = true;
  for (const future<>& each : occupied) each.wait();
}

TEST_P(background, promises_release_tasks) {
  promise<int> given;
  std::optional<promise<int>> broken(std::in_place);
  const auto [sum, lost] = pool_.run([&] {
    return std::pair(when_all(given.get_future(), pool_.submit([] { return 2; })).then([](const auto& both) {
      return std::get<0>(both).get() + std::get<1>(both).get();
    }),
                     broken->get_future().then([](int i) { return i; }));
  });
  EXPECT_FALSE(sum.is_ready());
  given.put(40);
  EXPECT_EQ(sum.get(), 42);
  broken.reset();
  EXPECT_THROW(static_cast<void>(lost.get()), std::logic_error);
}

TEST_P(background, all_of_a_list) {
  std::vector<future<int>> squares;
  for (int i = 0; i != 50; ++i) squares.push_back(pool_.submit([i] { return i * i; }));
  int sum = 0;
  for (const future<int>& f : when_all(squares).get()) sum += f.get();  // of a temporary: a copy, which the loop keeps
  EXPECT_EQ(sum, 40425);
  EXPECT_TRUE(when_all(std::vector<future<int>>{}).is_ready());
  EXPECT_TRUE(when_all().is_ready());
}

TEST_P(background, continuations_of_a_scheduler_that_has_ended_fail) {
  promise<int> late;
  std::optional<scheduler> pool(std::in_place, GetParam().options());
  const future<int> continued = pool->run([&] { return late.get_future().then([](int i) { return i; }); });
  pool.reset();
  late.put(1);
  EXPECT_THROW(static_cast<void>(continued.get()), std::logic_error);
}

/// Long enough for others to wait for it.
int one_after_a_moment() {
  std::this_thread::sleep_for(std::chrono::microseconds(50));
  return 1;
}

TEST_P(background, who_has_a_value_may_end_the_scheduler) {
  // The other one, which waits as well, may not have left yet.
  for (int round = 0; round != 20; ++round) {
    std::optional<scheduler> pool(std::in_place, GetParam().options());
    const future<int> made = pool->submit(&one_after_a_moment);
    std::thread other([made] { EXPECT_EQ(made.get(), 1); });
    EXPECT_EQ(made.get(), 1);
    pool.reset();
    other.join();
  }
}

TEST_P(background, schedulers_end_while_threads_wait) {
  for (int round = 0; round != 20; ++round) {
    std::optional<scheduler> pool(std::in_place, GetParam().options());
    const future<int> made = pool->submit(&one_after_a_moment);
    std::atomic<bool> waits = false;
    std::thread other([&waits, made] {
      waits = true;
      EXPECT_EQ(made.get(), 1);
    });
    while (!waits) std::this_thread::yield();
    pool.reset();
    other.join();
  }
}

TEST_P(background, a_worker_that_waits_for_a_promise_is_replaced) {
  // All workers wait for what a task does that nobody has begun; with one worker, too.
  promise<int> key;
  const future<int> opened = key.get_future();
  const long sum = pool_.run([&] {
    task_group group;
    std::atomic<long> found = 0;
    for (int i = 0; i != GetParam().workers; ++i) group.run([&] { found += opened.get(); });
    const future<> opener = pool_.submit([&] { key.put(3); });
    group.wait();
    opener.wait();
    return found.load();
  });
  EXPECT_EQ(sum, 3 * GetParam().workers);
}

TEST_P(background, blocked_workers_are_replaced) {
  // As many tasks as there are workers sleep until another task has run, which is submitted before they begin.
  pool_.run([&] {
    for (int round = 0; round != 20; ++round) {
      std::atomic<int> asleep = 0;
      std::atomic<bool> open = false;
      std::vector<future<>> all;
      for (int i = 0; i != GetParam().workers + 1; ++i) {
        all.push_back(pool_.submit([&] {
          const blocking here;
          ++asleep;
          while (!open) std::this_thread::yield();
        }));
      }
      const future<> opener = pool_.submit([&] {
        while (asleep != GetParam().workers + 1) std::this_thread::yield();
        open = true;
      });
      const blocking here;
      while (!open) std::this_thread::yield();
      for (const future<>& f : all) f.wait();
      opener.wait();
    }
  });
}

/// Owners of private deques hand over only when they look up, which a blocked one does not.
// What a guest has submitted stays in its queue when it leaves.
TEST_P(background, tasks_of_guests_that_have_left_are_run) {
  const int workers = pool_.workers();
  std::atomic<bool> go = false;
  std::atomic<int> busy = 0;
  const auto be_busy = [&] {
    ++busy;
    while (!go) std::this_thread::yield();
  };
  const auto enter_with_guest = [&](const auto& as_guest) {
    std::atomic<bool> left = false;
    std::thread seat([&] {
      pool_.run([&] {
        std::thread guest([&] { pool_.run(as_guest); });
        guest.join();
        left = true;
      });
    });
    seat.join();
    EXPECT_TRUE(left);
  };
  enter_with_guest([] {});
  std::vector<future<>> others;
  for (int i = 1; i < workers; ++i) others.push_back(pool_.submit(be_busy));
  while (busy != workers - 1) std::this_thread::yield();
  std::optional<future<int>> submitted;
  enter_with_guest([&] { submitted = pool_.submit([] { return 5; }); });
  go = true;
  while (!submitted->is_ready()) std::this_thread::yield();  // who waits would look for it
  EXPECT_EQ(submitted->get(), 5);
  for (const future<>& each : others) each.wait();
}

class offered_background : public background {
 public:
  static std::vector<tests::configuration> all() {
    std::vector<tests::configuration> some = tests::configurations({1, 2, 3});
    std::erase_if(some, [](const auto& each) { return tests::keeps_tasks_private(each.policy); });
    return some;
  }
};

TEST_P(offered_background, what_a_blocked_worker_has_left_is_run_by_others) {
  pool_.run([&] {
    std::atomic<bool> ran = false;
    fork_join(
        [&] {
          const blocking here;
          while (!ran) std::this_thread::yield();
        },
        [&] { ran = true; });
    std::atomic<int> left = 100;
    parallel_for(0, 100, [&](int i) {
      --left;
      if (i != 0) return;
      const blocking here;
      while (left > 50) std::this_thread::yield();
    });
  });
}

INSTANTIATE_TEST_SUITE_P(unit, offered_background, testing::ValuesIn(offered_background::all()), tests::name_of);
INSTANTIATE_TEST_SUITE_P(unit, background, testing::ValuesIn(tests::configurations({1, 2, 3})), tests::name_of);

TEST(submit, takes_arguments_as_async_does) {
  scheduler pool(2);
  std::string text = "a";
  const auto append = [](std::string& to, std::string_view what) -> std::string& { return to += what; };
  pool.submit(append, std::ref(text), std::string("bc")).get();
  EXPECT_EQ(text, "abc");
  EXPECT_EQ(pool.submit(&std::string::size, text).get(), 3U);
  EXPECT_EQ(*pool.submit([](std::unique_ptr<int> p) { return p; }, std::make_unique<int>(7)).get(), 7);
  int runs = 0;
  pool.submit([&](int by) { runs += by; }, 2).wait();
  EXPECT_EQ(runs, 2);
}

TEST(submit, goes_to_the_callers_scheduler) {
  scheduler pool(1);
  EXPECT_EQ(pool.run([] { return submit([] { return this_worker().scheduler; }).get(); }), &pool);
  EXPECT_EQ(submit([](int i) { return i; }, 3).get(), 3);
  EXPECT_EQ(submit([] { return this_worker().scheduler; }).get(), &scheduler::default_scheduler());
}

TEST(future, may_be_of_nothing) {
  std::vector<future<int>> all(3);
  EXPECT_FALSE(all[0].valid());
  scheduler pool({.workers = 2});
  for (future<int>& each : all) each = pool.submit([] { return 4; });
  for (const future<int>& each : all) EXPECT_EQ(each.get(), 4);
  EXPECT_TRUE(all[0].valid());
}

TEST(future, of_nothing_or_moved_from_says_so_when_used) {
  scheduler pool({.workers = 2});
  promise<int> maker;
  const future<int> of_maker = maker.get_future();
  promise<int> kept = std::move(maker);
  future<int> moved = of_maker;
  future<int> taken = std::move(moved);
  for (const future<int>& each : {future<int>(), moved}) {
    EXPECT_THROW(static_cast<void>(each.is_ready()), std::logic_error);
    EXPECT_THROW(each.wait(), std::logic_error);
    EXPECT_THROW(each.get(), std::logic_error);
    EXPECT_THROW(each.then([](int) {}), std::logic_error);
    EXPECT_THROW(static_cast<void>(when_all(taken, each)), std::logic_error);
    EXPECT_THROW(static_cast<void>(when_all(std::vector{taken, each})), std::logic_error);
  }
  EXPECT_THROW(static_cast<void>(maker.get_future()), std::logic_error);
  EXPECT_THROW(maker.put(1), std::logic_error);
  EXPECT_THROW(maker.put_error(std::make_exception_ptr(1)), std::logic_error);
  kept.put(3);
  EXPECT_EQ(taken.get(), 3);
}

TEST(future, of_a_value_that_cannot_be_copied_gives_it_away_at_its_end) {
  scheduler pool({.workers = 2});
  const auto make = [] { return std::make_unique<int>(4); };
  const std::unique_ptr<int> mine = pool.submit(make).get();
  EXPECT_EQ(*mine, 4);
  future<std::unique_ptr<int>> kept = pool.submit(make);
  const future<std::unique_ptr<int>> copy = kept;
  EXPECT_EQ(&kept.get(), &copy.get());
  EXPECT_EQ(*std::move(kept).get(), 4);
  EXPECT_THROW(static_cast<void>(copy.get()), std::logic_error);
  EXPECT_THROW(static_cast<void>(copy.then([](const std::unique_ptr<int>& i) { return *i; }).get()), std::logic_error);
}

TEST(future, of_a_view_of_what_cannot_be_copied_is_copied_itself) {
  scheduler pool({.workers = 2});
  std::vector<std::unique_ptr<int>> many(3);
  future<std::span<std::unique_ptr<int>>> view = pool.submit([&] { return std::span(many); });
  const auto again = view;
  EXPECT_EQ(std::move(view).get().size(), 3U);
  EXPECT_EQ(again.get().size(), 3U);
}

TEST(future, of_a_container_of_what_cannot_be_copied_gives_it_away_as_well) {
  scheduler pool({.workers = 2});
  using only = std::unique_ptr<int>;
  const auto four = [] { return std::make_unique<int>(4); };
  const std::vector<only> many = pool.submit([&] {
                                       std::vector<only> made(2);
                                       made[1] = four();
                                       return made;
                                     })
                                     .get();
  EXPECT_EQ(*many.at(1), 4);
  std::map<int, only> found = pool.submit([&] {
                                    std::map<int, only> made;
                                    made[3] = four();
                                    return made;
                                  })
                                  .get();
  EXPECT_EQ(*found[3], 4);
  auto [some, none] =
      pool.submit([&] { return std::pair(std::vector<std::vector<only>>(2), std::optional<only>()); }).get();
  EXPECT_EQ(some.size(), 2);
  EXPECT_FALSE(none.has_value());
  // What can be copied stays where it is.
  future<std::vector<std::string>> kept = pool.submit([] { return std::vector<std::string>{"a", "b"}; });
  const future<std::vector<std::string>> copy = kept;
  EXPECT_EQ(std::move(kept).get(), copy.get());
}

TEST(future, threads_outside_wait_for_promises) {
  promise<int> made;
  std::thread other([f = made.get_future()] { EXPECT_EQ(f.get(), 9); });
  made.put(9);
  other.join();
  EXPECT_THROW(made.put(10), std::logic_error);
}

TEST(future, a_promise_that_gets_another_one_ends_at_once) {
  promise<int> kept;
  const future<int> first = kept.get_future();
  promise<int> other;
  const future<int> second = other.get_future();
  kept = std::move(other);
  ASSERT_TRUE(first.is_ready());
  EXPECT_THROW(static_cast<void>(first.get()), std::logic_error);
  EXPECT_FALSE(second.is_ready());

  promise<int>& same = kept;
  kept = std::move(same);
  ASSERT_FALSE(second.is_ready());
  kept.put(3);
  EXPECT_EQ(second.get(), 3);
  kept = promise<int>();
  EXPECT_EQ(second.get(), 3);
}

TEST(future, many_continuations_follow_each_other) {
  for (const char* const policy : {"standard", "serial"}) {
    scheduler pool({.workers = 2, .policy = policy});
    promise<int> first;
    const future<int> last = pool.run([&] {
      future<int> value = first.get_future();
      for (int i = 0; i != 200'000; ++i) value = value.then([](int v) { return v + 1; });
      return value;
    });
    first.put(0);
    EXPECT_TRUE(last.is_ready() || pool.policy() != "serial");
    EXPECT_EQ(last.get(), 200'000);
  }
}

TEST(future, many_continuations_follow_a_scheduler_that_has_ended) {
  promise<int> late;
  future<int> last = late.get_future();
  {
    scheduler pool({.workers = 2});
    pool.run([&] {
      for (int i = 0; i != 200'000; ++i) last = last.then([](int value) { return value; });
    });
  }
  late.put(1);
  EXPECT_THROW(static_cast<void>(last.get()), std::logic_error);
}

// The way to their scheduler lasts until the last of them ends, whoever has made them and ends them.
TEST(future, tasks_end_anywhere_and_after_their_scheduler) {
  constexpr int many = 2000;
  std::atomic<int> ran = 0;
  promise<> late;
  std::vector<future<>> made_by_worker;
  std::vector<future<>> made_outside;
  scheduler other({.workers = 2});
  {
    scheduler pool({.workers = 2});
    for (int i = 0; i != many; ++i) static_cast<void>(pool.submit([&] { ++ran; }));  // it ends on a worker
    for (int i = 0; i != many; ++i) made_outside.push_back(pool.submit([&] { ++ran; }));
    pool.run([&] {
      for (int i = 0; i != many; ++i) made_by_worker.push_back(late.get_future().then([] {}));
      made_outside.resize(many / 2);
    });
    other.run([&] {
      const future<> here = pool.submit([&] { ++ran; });
      pool.run([&] { other.submit([&] { ++ran; }).wait(); });
      here.wait();
    });
  }
  EXPECT_EQ(ran.load(), 2 * many + 2);
  late.put();
  other.run([&] { made_by_worker.resize(many / 2); });
  EXPECT_THROW(made_by_worker.front().get(), std::logic_error);
}

TEST(blocking, does_nothing_outside) { const blocking here; }

// It waits for a task of the outer one, whose other worker is busy until that has run.
TEST(blocking, replaces_the_thread_in_schedulers_around_as_well) {
  scheduler outer({.workers = 2});
  scheduler inner({.workers = 1});
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  const auto in_time = [end] { return std::chrono::steady_clock::now() < end; };
  std::atomic<bool> is_busy = false;
  std::atomic<bool> ran = false;
  bool was_in_time = false;
  outer.run([&] {
    const auto other = outer.submit([&] {
      is_busy = true;
      while (!ran && in_time()) std::this_thread::yield();
    });
    while (!is_busy && in_time()) std::this_thread::yield();
    inner.run([&] {
      static_cast<void>(outer.submit([&] { ran = true; }));
      const blocking here;
      while (!ran && in_time()) std::this_thread::yield();
      was_in_time = in_time();
    });
    other.wait();
  });
  EXPECT_TRUE(was_in_time);
}

// The only thread of the outer scheduler waits in the inner one for a branch, which another thread has taken; and that one waits
// for what a thread of the outer scheduler has to run.
TEST(blocking, goes_for_the_schedulers_around_while_a_worker_sleeps_in_a_wait) {
  scheduler outer({.workers = 1});
  scheduler inner({.workers = 2});
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  const auto in_time = [end] { return std::chrono::steady_clock::now() < end; };
  std::atomic<int> branches = 0;
  std::atomic<bool> is_queued = false;
  future<int> queued;
  const auto whole = outer.submit([&] {
    return inner.run([&] {
      const auto owner = std::this_thread::get_id();
      const auto branch = [&] {
        ++branches;
        while (branches != 2 && in_time()) std::this_thread::yield();
        if (std::this_thread::get_id() == owner) return 0;
        queued = outer.submit([] { return 1; });
        is_queued = true;
        return queued.then([](int i) { return i + 1; }).get();
      };
      const auto [one, two] = fork_join(branch, branch);
      return one + two;
    });
  });
  while (!whole.is_ready() && in_time()) std::this_thread::yield();
  EXPECT_TRUE(whole.is_ready());
  if (is_queued) static_cast<void>(queued.get());  // by this thread, if nobody else has
  EXPECT_EQ(whole.get(), 2);
}

// trace_test.py looks at what is in the file. Here threads begin and end traces in the middle of what others do.
TEST(trace, begins_and_ends_while_tasks_run) {
  scheduler pool({.workers = 3});
  std::atomic<bool> done = false;
  std::thread computes([&] {
    while (!done) pool.run([] { fork_join(named("left", [] { fib(12); }), [] { fib(12); }); });
  });
  for (int round = 0; round != 20; ++round) {
    trace recording(pool, "/dev/null");
    EXPECT_THROW(trace(pool, "/dev/null"), std::logic_error);
    std::this_thread::yield();
    if (round % 2 == 0) recording.write();
  }
  done = true;
  computes.join();
  EXPECT_THROW(trace(pool, "/no/such/folder/file"), std::invalid_argument);
  EXPECT_EQ(named("sum", [](int a, int b) { return a + b; })(1, 2), 3);
  const auto constant = named("less", [](int a, int b) { return a < b; });
  EXPECT_TRUE(constant(1, 2));
  EXPECT_EQ(named("count", [n = 0]() mutable { return ++n; })(), 1);
}

TEST(worker_local, one_value_for_each_worker) {
  scheduler pool({.workers = 4});
  std::atomic<int> made = 0;
  worker_local<long> sums(pool, [&] {
    ++made;
    return 0L;
  });
  const auto add = [&] { pool.run([&] { parallel_for(1, 100001, [&](long i) { sums.local() += i; }); }); };
  std::thread guest(add);
  add();
  guest.join();
  EXPECT_EQ(sums.combine(std::plus<>()), 2 * 5000050000L);
  EXPECT_EQ(sums.size(), static_cast<std::size_t>(made.load()));
  EXPECT_LE(sums.size(), 5U);
  sums.clear();
  EXPECT_EQ(sums.size(), 0U);
  EXPECT_EQ(sums.combine(std::plus<>()), 0);
  EXPECT_THROW(sums.local(), std::logic_error);
  scheduler other({.workers = 2});
  other.run([&] { EXPECT_THROW(sums.local(), std::logic_error); });
  pool.run([&] { other.run([&] { sums.local() = 1; }); });  // of the scheduler around
  EXPECT_EQ(sums.size(), 1U);
}

TEST(worker_local, values_may_begin_as_copies_of_one) {
  scheduler pool({.workers = 2});
  worker_local<int> least(pool, 100);
  pool.run([&] { parallel_for(7, 1000, [&](int i) { least.local() = std::min(least.local(), i); }); });
  EXPECT_EQ(least.combine([](int a, int b) { return std::min(a, b); }), 7);
  const worker_local<double> of_default(1);
  EXPECT_EQ(of_default.combine(std::plus<>()), 1.0);
}

TEST(worker_local, values_come_in_the_order_of_indices) {
  scheduler pool({.workers = 3});
  worker_local<int> ranks(pool, [] { return this_worker().index; });
  pool.run([&] {
    tests::until_stolen(pool, 20, [&] {
      fork_join(
          [&] {
            ranks.local();
            std::this_thread::yield();
          },
          [&] { ranks.local(); });
    });
  });
  std::vector<int> seen;
  ranks.for_each([&](int rank) { seen.push_back(rank); });
  EXPECT_TRUE(std::ranges::is_sorted(seen));
  EXPECT_GE(seen.size(), 2U);
}

TEST(threads, are_named_and_tell_when_they_begin_and_end) {
  std::atomic<int> begun = 0;
  std::atomic<int> ended = 0;
  std::atomic<int> spare = 0;
  {
    scheduler pool({.workers = 3,
                    .on_start = [&](int index) { (index < 0 ? spare : begun) += 1; },
                    .on_stop = [&](int index) { (index < 0 ? spare : ended) += 1; }});
    pool.run([] { const blocking here; });
    char name[16] = {};
    const future<> named = pool.submit([&] { pthread_getname_np(pthread_self(), name, sizeof name); });
    while (!named.is_ready()) std::this_thread::yield();
    EXPECT_EQ(std::string(name).substr(0, 6), "filch-");
  }
  EXPECT_EQ(begun, 2);
  EXPECT_EQ(ended, 2);
  EXPECT_EQ(spare, 2);
}

TEST(promise, a_null_pointer_is_no_error) {
  promise<int> maker;
  EXPECT_THROW(maker.put_error(std::current_exception()), std::logic_error);
  maker.put(1);
  EXPECT_EQ(maker.get_future().get(), 1);
}

/// A loop that takes some milliseconds: the thread that ran it, if it was one, and began iterations in their order.
std::thread::id thread_of_serial_loop() {
  std::thread::id by;
  std::atomic<int> next = 0;
  std::atomic<bool> is_serial = true;
  parallel_for(0, 1000, [&](int i) {
    if (i == 0) by = std::this_thread::get_id();
    if (next++ != i || std::this_thread::get_id() != by) is_serial = false;
    volatile int k = 0;
    while (k < 3000) k = k + 1;
  });
  return is_serial ? by : std::thread::id();
}

// The thread that submitted tasks need runs nothing else; nor does who waits for one help with it.
TEST(one_worker, constructs_stay_serial_beside_submitted_tasks) {
  scheduler pool({.workers = 1});
  const auto expect_serial = [&] {
    pool.run([&] {
      EXPECT_EQ(thread_of_serial_loop(), std::this_thread::get_id());
      std::vector<int> order;
      task_group tasks;
      for (int i = 0; i < 100; ++i) {
        tasks.run([&order, i, of = std::this_thread::get_id()] {
          EXPECT_EQ(std::this_thread::get_id(), of);
          order.push_back(i);
        });
      }
      tasks.wait();
      EXPECT_TRUE(std::ranges::is_sorted(order, std::greater<>()));
    });
  };
  pool.submit([] {}).wait();
  expect_serial();
  std::binary_semaphore is_there(0);
  future<std::thread::id> by = pool.submit([&] {
    is_there.release();
    return thread_of_serial_loop();
  });
  is_there.acquire();
  const std::thread::id who = by.get();
  EXPECT_NE(who, std::thread::id());
  EXPECT_NE(who, std::this_thread::get_id());
}

TEST(this_worker, has_a_bound_and_a_scheduler) {
  scheduler pool({.workers = 2});
  EXPECT_EQ(this_worker().scheduler, nullptr);
  EXPECT_EQ(this_worker().count, 0);
  pool.run([&] {
    EXPECT_EQ(this_worker().scheduler, &pool);
    std::thread guest([&] {
      pool.run([&] {
        EXPECT_GE(this_worker().index, 2);
        EXPECT_LT(this_worker().index, this_worker().count);
      });
    });
    guest.join();
  });
}

std::uint64_t parks(const scheduler& of) { return of.stats().parks; }

TEST(keep_warm, nobody_falls_asleep_until_it_ends) {
  scheduler pool({.workers = 4});
  const auto sleep_again = [&](std::uint64_t before) {
    while (parks(pool) < before + 3) std::this_thread::yield();
  };
  sleep_again(0);
  std::uint64_t while_warm = 0;
  {
    const keep_warm here(pool);
    const keep_warm in_it(pool);
    // Who was about to sleep when it began is counted, once.
    const std::uint64_t before = parks(pool) + 3;
    for (int i = 0; i < 50; ++i) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));  // four times as long as they spin
      pool.run([] { EXPECT_EQ(fib(5), 5); });
    }
    while_warm = parks(pool);  // not later: they may sleep as soon as it has ended
    EXPECT_LE(while_warm, before);
  }
  sleep_again(while_warm);
}

TEST(keep_warm, schedulers_of_one_worker_have_nobody_to_wake) {
  scheduler pool({.workers = 1});
  const keep_warm here(pool);
  EXPECT_EQ(pool.run([] { return fib(10); }), 55);
}

}  // namespace
}  // namespace filch
