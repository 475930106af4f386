// Policy serial: whatever is made runs there and then.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <list>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <filch/filch.hpp>

namespace filch {
namespace {

/// What a program does, in which order: it must be the order in which it is written.
std::vector<int> trail_of_everything(scheduler& pool) {
  std::vector<int> trail;
  const auto note = [&](int i) { trail.push_back(i); };
  pool.run([&] {
    fork_join([&] { note(0); }, [&] { note(1); });
    task_group group;
    group.run([&] { note(2); });
    group.run([&, text = std::string(100, 'x')] { note(text.empty() ? -1 : 3); });
    note(4);
    group.wait();
    const auto heap = std::make_unique<task_group>();
    heap->run([&] {
      note(5);
      heap->run([&] { note(6); });
      note(7);
    });
    note(8);
    heap->wait();
    parallel_for(9, 100, note);
    parallel_for(100, 200, note, loop::fixed{});
    parallel_for(200, 300, note, loop::dynamic{.grain = 7});
    parallel_for(300, 400, note, loop::simple{});
    parallel_invoke([&] { note(400); }, [&] { note(401); }, [&] { note(402); });
    const future<int> submitted = pool.submit([&] {
      note(403);
      return 404;
    });
    const future<> after = submitted.then([&](int i) { note(i); });
    note(after.is_ready() ? 405 : -1);
    parallel_for(blocked_range<int>(406, 500), [&](const auto& part) {
      for (int i = part.begin(); i != part.end(); ++i) note(i);
    });
  });
  return trail;
}

TEST(serial, everything_runs_in_program_order) {
  for (const int workers : {0, 1, 4}) {
    for (const char* const loop : {"standard", "static", "help_first"}) {
      scheduler pool({.workers = workers, .policy = "serial", .loop = loop});
      if (workers == 0) {
        EXPECT_EQ(pool.workers(), 1);
      }
      std::vector<int> expected(500);
      std::iota(expected.begin(), expected.end(), 0);
      EXPECT_EQ(trail_of_everything(pool), expected) << workers << ' ' << loop;
      EXPECT_EQ(pool.stats().steals + pool.stats().leaps, 0U);
    }
  }
}

TEST(serial, tasks_of_threads_outside_run_at_once_as_well) {
  scheduler pool({.policy = "serial"});
  const auto group = pool.run([] { return std::make_unique<task_group>(); });
  const std::thread::id me = std::this_thread::get_id();
  int ran = 0;
  pool.run([&] { group->run([&] { ran += std::this_thread::get_id() == me ? 1 : 100; }); });
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(group->wait(), group_status::complete);
}

TEST(serial, of_exceptions_the_first_arrives) {
  scheduler pool({.policy = "serial"});
  task_group group;
  EXPECT_THROW(pool.run([] {
    task_group inner;
    inner.run([] { throw std::runtime_error("first"); });
    inner.run([] { throw std::logic_error("second"); });
    inner.wait();
  }),
               std::runtime_error);
  EXPECT_EQ(pool.run([] { return parallel_reduce(0, 1000, 0, [](int i) { return i; }); }), 499500);
}

TEST(serial, of_exceptions_in_a_group_on_the_heap_the_first_arrives) {
  scheduler pool({.policy = "serial"});
  const auto fails = [] {
    const auto group = std::make_unique<task_group>();
    for (int i = 1; i <= 5; ++i) group->run([i] { throw i; });
    try {
      group->wait();
    } catch (int which) {
      return which;
    }
    return 0;
  };
  EXPECT_EQ(pool.run(fails), 1);
}

TEST(serial, continuations_run_where_their_future_becomes_ready) {
  scheduler pool({.policy = "serial"});
  std::vector<int> trail;
  const auto note = [&](int i) { return [&trail, i](int value) { return trail.push_back(i), value + 1; }; };
  pool.run([&] {
    promise<int> first;
    promise<int> second;
    const future<int> newer = second.get_future().then(note(1)).then(note(2));
    const future<int> last = first.get_future().then(note(3)).then(note(4));
    const future<int> inside = first.get_future()
                                   .then([&](int value) {
                                     second.put(10);
                                     trail.push_back(newer.get());
                                     return value;
                                   })
                                   .then(note(5));
    first.put(20);
    EXPECT_TRUE(last.is_ready());
    EXPECT_EQ(last.get(), 22);
    EXPECT_EQ(inside.get(), 21);
  });
  EXPECT_EQ(trail, (std::vector<int>{1, 2, 12, 5, 3, 4}));
}

// What a continuation does may wait for them.
TEST(serial, who_sleeps_is_told_before_continuations_run) {
  scheduler pool({.policy = "serial"});
  promise<int> first;
  const future<int> value = first.get_future();
  std::promise<void> woken;
  std::atomic<int> asleep = 0;
  std::vector<std::thread> sleepers;
  sleepers.emplace_back([&] {
    ++asleep;
    value.wait();
    woken.set_value();
  });
  sleepers.emplace_back([&] {
    ++asleep;
    when_all(value, value).wait();
  });
  while (asleep != 2) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // so that mostly they sleep
  const future<bool> continued = pool.run([&] {
    return value.then([wakes = woken.get_future().share()](int /*value*/) {
      return wakes.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
    });
  });
  first.put(1);
  EXPECT_TRUE(continued.get());
  for (std::thread& each : sleepers) each.join();
}

TEST(serial, continuations_run_on_workers_of_other_schedulers) {
  // Who waits has nobody to help, and must not look for one.
  scheduler pool({.policy = "serial"});
  scheduler other({.workers = 4});
  for (int round = 0; round != 10; ++round) {
    promise<int> given;
    std::atomic<bool> begun = false;
    const future<int> continued = pool.run([&] {
      return given.get_future().then([&](int value) {
        begun = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return value;
      });
    });
    const future<> put = other.submit([&] { given.put(round); });  // by a worker whose number is not 0
    while (!begun) std::this_thread::yield();
    EXPECT_EQ(continued.get(), round);
    put.wait();
  }
}

}  // namespace
}  // namespace filch
