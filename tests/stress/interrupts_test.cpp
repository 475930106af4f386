// Workers that are interrupted: nothing is lost or done twice, and nobody starves below a task that does not look.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <filch/detail/worker_core.hpp>

#include "platform/interrupt.hpp"
#include "support.hpp"

namespace filch {
namespace {

using tests::account;
using namespace std::chrono_literals;

/// Policies whose owners answer when they look.
struct setting {
  std::string policy;
  bool steal_half;
  bool ticks;  ///< interrupts by a thread of their own

  [[nodiscard]] options with(int workers) const {
    options chosen{.workers = workers, .policy = policy, .steal_half = steal_half, .interrupt_after_ns = 100'000};
    if (ticks) chosen.interrupt_every_ns = 200'000;
    return chosen;
  }
  friend std::ostream& operator<<(std::ostream& out, const setting& s) {
    return out << s.policy << (s.steal_half ? "_half" : "") << (s.ticks ? "_ticks" : "");
  }
};

class interrupts : public testing::TestWithParam<setting> {};

/// Until somebody else has run something; this thread is only to be interrupted. It sleeps in between, because
/// ThreadSanitizer delivers signals in system calls only, and so that the other one has a processor.
void wait_for(const std::atomic<bool>& flag) {
  while (!flag.load(std::memory_order_acquire)) std::this_thread::sleep_for(20us);
}

TEST_P(interrupts, hand_over_what_lies_below_a_task_that_waits_for_it) {
  scheduler pool(GetParam().with(2));
  for (int round = 0; round < 50; ++round) {
    account tasks(3);
    std::atomic<bool> begun{false};
    pool.run([&] {
      fork_join(
          [&] {
            fork_join(
                [&] {
                  tasks.ran(0);
                  wait_for(begun);
                },
                [&] {
                  tasks.ran(1);
                  begun.store(true, std::memory_order_release);
                });
          },
          [&] { tasks.ran(2); });
    });
    EXPECT_EQ(tasks.first_not(1), tasks.size());
  }
}

TEST_P(interrupts, hand_over_the_rest_of_a_loop_one_of_whose_iterations_waits_for_it) {
  scheduler pool(GetParam().with(2));
  for (int round = 0; round < 50; ++round) {
    account tasks(8);
    std::atomic<bool> begun{false};
    pool.run([&] {
      parallel_for(0, 8, [&](int i) {
        parallel_for(0, 1, [](int) {});  // so that each iteration is a chunk
        tasks.ran(static_cast<std::size_t>(i));
        if (i == 7) begun.store(true, std::memory_order_release);
        if (i == 0) wait_for(begun);
      });
    });
    EXPECT_EQ(tasks.first_not(1), tasks.size());
  }
}

TEST_P(interrupts, of_chunks_that_end_early_lose_no_iteration) {
  scheduler pool(GetParam().with(2));
  account runs(10'000);
  const auto loop = [&](bool long_ones) {
    pool.run([&] {
      parallel_for(0, 10'000, [&](int i) {
        runs.ran(static_cast<std::size_t>(i));
        if (long_ones && i % 3'000 > 2'850) std::this_thread::sleep_for(20us);
      });
    });
  };
  loop(false);  // they are all short, for all that is known
  for (int round = 0; round < 5; ++round) loop(true);
  EXPECT_EQ(runs.first_not(6), runs.size());
}

TEST_P(interrupts, of_long_tasks_lose_none) {
  struct kind {
    std::chrono::microseconds lasts;
    std::size_t count;
  };
  for (const kind& leaf : {kind{800us, 48}, kind{6500us, 12}, kind{54ms, 3}}) {
    for (const int workers : {2, 3}) {
      scheduler pool(GetParam().with(workers));
      account tasks(leaf.count);
      const auto fork = [&](const auto& again, std::size_t low, std::size_t high) -> void {
        if (high - low == 1) {
          tasks.ran(low);
          const auto end = std::chrono::steady_clock::now() + leaf.lasts;
          while (std::chrono::steady_clock::now() < end) {
          }
          return;
        }
        const std::size_t middle = std::midpoint(low, high);
        fork_join([&] { again(again, low, middle); }, [&] { again(again, middle, high); });
      };
      pool.run([&] { fork(fork, 0, leaf.count); });
      EXPECT_EQ(tasks.first_not(1), tasks.size());
    }
  }
}

/// Asks the calling worker for work and interrupts it, again and again, for as long as it lives.
class meddler {
 public:
  meddler()
      : thread_([this, &victim = *detail::self, whom = platform::current_thread()] {
          while (!done_.load(std::memory_order_relaxed)) {
            victim.attention.store(nullptr, std::memory_order_relaxed);
            platform::interrupt(whom);
            for (int i = 0; i < 200; ++i) done_.load(std::memory_order_relaxed);
          }
        }) {}
  ~meddler() {
    done_.store(true, std::memory_order_relaxed);
    thread_.join();
  }
  meddler(const meddler&) = delete;
  meddler& operator=(const meddler&) = delete;

 private:
  std::atomic<bool> done_{false};
  std::thread thread_;
};

/// All constructs in one: forks, groups in them and around them, loops, reductions and bags.
void everything(account& tasks, std::size_t low, std::size_t high) {
  if (high - low < 8) {
    parallel_for(low, high, [&](std::size_t i) { tasks.ran(i); });
    return;
  }
  const std::size_t step = (high - low) / 4;
  const std::size_t a = low + step;
  const std::size_t b = a + step;
  const std::size_t c = b + step;
  task_group around;
  around.run([&] { everything(tasks, low, a); });
  fork_join(
      [&] {
        task_group within;
        within.run([&] { everything(tasks, a, b); });
        within.wait();
      },
      [&] {
        const std::size_t sum = parallel_reduce(
            b, c, std::size_t{0},
            [&](std::size_t i) {
              tasks.ran(i);
              return i;
            },
            std::plus<>{});
        EXPECT_EQ(sum, (c - b) * (b + c - 1) / 2);
      });
  const std::vector<std::size_t> roots{c};
  for_each_dynamic(roots.begin(), roots.end(), [&](std::size_t i, feeder<std::size_t>& more) {
    if (i + 1 < high) more.push(i + 1);
    fork_join([&] { tasks.ran(i); }, [] {});
  });
  around.wait();
}

TEST_P(interrupts, may_come_anywhere) {
  constexpr std::size_t size = 20'000;
  scheduler pool(GetParam().with(3));
  // Until it was interrupted often enough. A busy machine may run the meddler late.
  for (int round = 0; round < 20 || pool.stats().interrupts < 200; ++round) {
    account tasks(size);
    pool.run([&] {
      const meddler now;
      everything(tasks, 0, size);
    });
    EXPECT_EQ(tasks.first_not(1), tasks.size());
  }
}

/// A task of one scheduler runs another one, whose task runs the first: the thread is three workers.
TEST_P(interrupts, may_come_to_a_thread_that_is_several_workers) {
  constexpr std::size_t size = 2'000;
  scheduler around(GetParam().with(3));
  scheduler between(GetParam().with(2));
  for (int round = 0; round < 20 || around.stats().interrupts < 100; ++round) {
    account tasks(3 * size);
    around.run([&] {
      const meddler first;
      fork_join(
          [&] {
            between.run([&] {
              const meddler second;
              fork_join(
                  [&] {
                    around.run([&] {
                      const meddler third;
                      everything(tasks, 0, size);
                    });
                  },
                  [&] { everything(tasks, size, 2 * size); });
            });
          },
          [&] { everything(tasks, 2 * size, 3 * size); });
    });
    EXPECT_EQ(tasks.first_not(1), tasks.size());
  }
}

INSTANTIATE_TEST_SUITE_P(all, interrupts,
                         testing::Values(setting{"standard", false, false}, setting{"lace", true, false},
                                         setting{"receiver", false, false}, setting{"receiver", true, false},
                                         setting{"receiver_blocking", false, false}, setting{"sender", false, false},
                                         setting{"sender", true, true}, setting{"adws", false, false},
                                         setting{"constrained", false, false}),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace filch
