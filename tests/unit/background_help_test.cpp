// Waits for futures, and blocked workers: who helps whom, and what is left for others.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <filch/filch.hpp>

#include "support.hpp"

namespace filch {
namespace {

class background_help : public testing::TestWithParam<tests::configuration> {
 protected:
  /// Calls leaf(i) for each i below 64, forked from both ends.
  template <class Leaf>
  static void tree(const Leaf& leaf, int first = 0, int count = 64) {
    if (count == 1) return leaf(first);
    const int half = count / 2;
    fork_join([&, first, half] { tree(leaf, first, half); },
              [&, first, half, count] { tree(leaf, first + half, count - half); });
  }
};

// Whoever waits for a task around it is woken for parts of a submitted task that was claimed by who waits for that.
TEST_P(background_help, who_waits_around_a_claimed_task_runs_parts_of_it) {
  if (GetParam().workers == 1) return;
  scheduler pool(GetParam().options());
  std::atomic<bool> helped = false;
  for (int round = 0; round != 1000 && !helped; ++round) {
    pool.run([&] {
      std::atomic<bool> stolen = false;
      fork_join([&] { tests::wait_for_thief(stolen, GetParam().policy); },
                [&] {
                  stolen = true;
                  const int owner = this_worker();
                  const auto body = [&] {
                    // Meanwhile who waits falls asleep.
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
                    tree([&](int /*leaf*/) {
                      if (this_worker() != owner) helped = true;
                      for (int i = 0; i != 30 && !helped; ++i) std::this_thread::yield();
                    });
                  };
                  pool.submit(body).get();
                });
    });
  }
  EXPECT_TRUE(helped);
}

// All workers are busy, so nobody else does.
TEST_P(background_help, who_waits_for_several_futures_runs_their_tasks) {
  scheduler pool(GetParam().options());
  std::atomic<int> busy = 0;
  std::atomic<bool> over = false;
  std::vector<future<>> others;
  const int threads = std::max(1, GetParam().workers - 1);
  for (int i = 0; i != threads; ++i) {
    others.push_back(pool.submit([&] {
      ++busy;
      while (!over) std::this_thread::yield();
    }));
  }
  while (busy != threads) std::this_thread::yield();
  const auto some = [&] {
    std::vector<future<int>> all;
    for (int i = 0; i != 5; ++i) all.push_back(pool.submit([i] { return i; }));
    return all;
  };
  EXPECT_EQ(when_all(some()).get().size(), 5U);
  const auto nested = when_all(when_all(some()), pool.submit([] { return 7; }), when_all(some()));
  EXPECT_EQ(std::get<1>(nested.get()).get(), 7);
  const future<int> sum = when_all(some()).then([](const std::vector<future<int>>& all) {
    int added = 0;
    for (const future<int>& each : all) added += each.get();
    return added;
  });
  EXPECT_EQ(when_all(std::vector{sum, sum.then([](int i) { return 2 * i; })}).get().at(1).get(), 20);
  over = true;
  for (const future<>& each : others) each.wait();
}

// A spare thread that is still in the middle of a task when its region ends takes part; the next region needs no other.
TEST_P(background_help, many_regions_do_not_begin_many_threads) {
  std::atomic<int> spares = 0;
  {
    options chosen = GetParam().options();
    chosen.on_start = [&](int index) {
      if (index < 0) ++spares;
    };
    scheduler pool(chosen);
    std::atomic<bool> over = false;
    std::vector<future<>> busy;
    for (int i = 0; i != 100; ++i) {
      busy.push_back(pool.submit([&] {
        while (!over) std::this_thread::yield();
      }));
    }
    pool.run([&] {
      for (int i = 0; i != 50; ++i) {
        const blocking here;
        std::this_thread::yield();
      }
    });
    over = true;
    for (const future<>& each : busy) each.wait();
  }
  // That of a scheduler of one worker, and that in the place of the blocked one.
  EXPECT_LE(spares, 2);
}

/// The tasks of a group of which the first `short_ones` do nothing, so that thieves of `standard` take several at a time. The
/// others wait, in blocking regions, until is_due(i, ended, count) says so of what has ended.
constexpr std::size_t short_ones = 400;
constexpr std::size_t behind_short_ones = short_ones + 60;
using ends = std::vector<std::atomic<bool>>;
template <class IsDue>
void run_behind_short_ones(const IsDue& is_due) {
  for (const int workers : {2, 4}) {
    scheduler pool({.workers = workers});
    for (int run = 0; run != 20; ++run) {
      ends ended(behind_short_ones);
      std::atomic<std::size_t> count = 0;
      pool.run([&] {
        task_group group;
        for (std::size_t i = 0; i != behind_short_ones; ++i) {
          group.run([&, i] {
            if (!is_due(i, ended, count)) {
              const blocking here;
              while (!is_due(i, ended, count)) std::this_thread::yield();
            }
            ended[i] = true;
            ++count;
          });
        }
        group.wait();
      });
      ASSERT_EQ(count, behind_short_ones);
    }
  }
}

// A thief that takes several tasks, because those before were short, must not begin one whose predecessor it keeps.
TEST(background_help_of_standard, tasks_wait_for_older_ones_behind_short_ones) {
  run_behind_short_ones(
      [](std::size_t i, const ends& ended, std::size_t /*count*/) { return i <= short_ones || ended[i - 1]; });
}

// What such a thief keeps is for others while it is blocked; the owner of the tasks is, too, in the newest.
TEST(background_help_of_standard, tasks_wait_for_younger_ones_behind_short_ones) {
  run_behind_short_ones([](std::size_t i, const ends& ended, std::size_t count) {
    if (i + 1 == ended.size()) return count == ended.size() - 1;
    const bool waits_for_next = i >= short_ones && i % 2 == 0 && i + 2 != ended.size();
    return !waits_for_next || ended[i + 1];
  });
}

// Nor does it take its own place when that task blocks.
TEST_P(background_help, spare_threads_that_block_are_replaced) {
  if (GetParam().workers == 1) return;  // whose submitted tasks are run by another spare thread
  scheduler pool(GetParam().options());
  std::atomic<int> busy = 0;
  std::atomic<bool> released = false;
  std::atomic<bool> opened = false;
  std::vector<future<>> others;
  // One more than there are threads of workers, so that a spare thread runs one, and is inside of that when its region ends.
  const int threads = GetParam().workers;
  for (int i = 0; i != threads; ++i) {
    others.push_back(pool.submit([&] {
      ++busy;
      while (!released) std::this_thread::yield();
      std::optional<blocking> here;
      if (this_worker() >= threads) here.emplace();
      while (!opened) std::this_thread::yield();
    }));
  }
  pool.run([&] {
    {
      const blocking here;
      while (busy != threads) std::this_thread::yield();
    }
    const future<> opener = pool.submit([&] { opened = true; });
    released = true;
    while (!opener.is_ready()) std::this_thread::yield();  // this worker is busy
  });
  for (const future<>& each : others) each.wait();
}

INSTANTIATE_TEST_SUITE_P(unit, background_help, testing::ValuesIn(tests::configurations({1, 2, 3})), tests::name_of);

TEST(background_end, of_a_scheduler_in_a_continuation_that_runs_at_once) {
  auto pool = std::make_shared<scheduler>(options{.workers = 1, .policy = "serial"});
  promise<int> given;
  bool ran = false;
  const future<> done =
      pool->run([&] { return given.get_future().then([keep = pool, &ran](int i) { ran = i == 1; }); });
  pool.reset();
  given.put(1);  // the continuation has the last reference
  EXPECT_TRUE(done.is_ready());
  EXPECT_TRUE(ran);
}

// But for its chunk, and no chunk is more than an eighth of what is left.
TEST(blocking, offers_all_that_is_left_of_a_loop) {
  for (const int workers : {1, 2, 3}) {
    scheduler pool({.workers = workers});
    pool.run([&] {
      std::atomic<int> left = 100;
      parallel_for(0, 100, [&](int i) {
        --left;
        if (i != 0) return;
        const blocking here;
        while (left > 100 / 8) std::this_thread::yield();
      });
    });
  }
}

// All background tasks are of one group, and several workers may wait for one of them each.
TEST(background_help_of, sender_deals_to_the_waiter_of_a_task_whoever_else_waits) {
  scheduler pool({.workers = 4, .policy = "sender"});
  std::atomic<bool> first_helped = false;
  std::atomic<bool> second_helped = false;
  for (int round = 0; round != 1000 && !(first_helped && second_helped); ++round) {
    // Two workers wait for a task each, which two others run; one of these has parts to give.
    const auto wait_for = [&](std::atomic<bool>& helped, bool has_parts, std::atomic<int>& waiting,
                              const std::atomic<bool>& over) {
      const int waiter = this_worker();
      std::atomic<bool> begun = false;
      const future<> task = pool.submit([&, waiter] {
        begun = true;
        while (waiting != 2) std::this_thread::yield();
        if (!has_parts) {
          while (!over) std::this_thread::yield();
          return;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        for (int i = 0; i != 64; ++i) {
          fork_join([&] { std::this_thread::yield(); },
                    [&] {
                      if (this_worker() == waiter) helped = true;
                    });
        }
      });
      while (!begun) std::this_thread::yield();
      ++waiting;
      task.wait();
    };
    for (const bool first_has_parts : {true, false}) {
      std::atomic<int> waiting = 0;
      std::atomic<bool> over = false;
      std::atomic<bool>& helped = first_has_parts ? first_helped : second_helped;
      const auto with_parts = [&] {
        wait_for(helped, true, waiting, over);
        over = true;
      };
      const auto without = [&] { wait_for(helped, false, waiting, over); };
      pool.run([&] {
        std::atomic<bool> stolen = false;
        fork_join(
            [&] {
              tests::wait_for_thief(stolen, "sender");
              first_has_parts ? with_parts() : without();
            },
            [&] {
              stolen = true;
              first_has_parts ? without() : with_parts();
            });
      });
    }
  }
  EXPECT_TRUE(first_helped);
  EXPECT_TRUE(second_helped);
}

}  // namespace
}  // namespace filch
