// How soon a worker is interrupted again: ARCHITECTURE.md, "Interrupts". All times are virtual.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <filch/filch.hpp>
#include <filch/platform/work.hpp>

#include "run_on.hpp"
#include "worker/interrupter.hpp"
#include "worker/worker.hpp"

namespace filch::vm {
namespace {

constexpr double ms = 1e6;
constexpr double step_ns = 10'000;

/// Neither forks nor joins for that time. Returns the pauses between the interrupts meanwhile, in nanoseconds.
std::vector<double> pauses_while_busy(const scheduler& pool, double busy_ns) {
  std::vector<double> pauses;
  std::uint64_t seen = 0;
  double last_ns = 0;
  const double until_ns = now_s() * 1e9 + busy_ns;
  for (double now_ns = 0; now_ns < until_ns; now_ns = now_s() * 1e9) {
    const std::uint64_t interrupts = pool.stats().interrupts;
    if (interrupts != seen) {
      if (seen != 0) pauses.push_back(now_ns - last_ns);
      last_ns = now_ns;
    }
    seen = interrupts;
    platform::charge(step_ns);
  }
  return pauses;
}

class interrupt_pauses : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] static options chosen() { return {.policy = GetParam(), .interrupt_after_ns = 100'000}; }
};

TEST_P(interrupt_pauses, double_from_two_to_64_ms_when_there_is_nothing_to_give) {
  run_on(4, chosen(), [](scheduler& pool) {
    fork_join(
        [&] {
          const std::vector<double> pauses = pauses_while_busy(pool, 400 * ms);
          ASSERT_GE(pauses.size(), 7U);
          double expected = 2 * ms;
          for (const double pause : pauses) {
            EXPECT_GE(pause, expected - step_ns);
            EXPECT_LE(pause, expected + 0.2 * ms);
            expected = std::min(2 * expected, 64 * ms);
          }
        },
        [] {});
  });
}

INSTANTIATE_TEST_SUITE_P(all, interrupt_pauses,
                         testing::Values("standard", "lace", "receiver", "receiver_blocking", "sender"),
                         [](const auto& each) { return each.param; });

// The others have offered all tasks before, or deal by the clock.
TEST(interrupt_pauses_of_receivers, last_as_long_as_the_next_one_has_to_wait_when_something_is_given) {
  run_on(4, options{.policy = "receiver", .interrupt_after_ns = 100'000}, [](scheduler& pool) {
    task_group tasks;
    for (int i = 0; i < 3; ++i) tasks.run([] { platform::charge(10 * ms); });
    const std::vector<double> pauses = pauses_while_busy(pool, 5 * ms);
    ASSERT_EQ(pauses.size(), 2U);
    for (const double pause : pauses) EXPECT_NEAR(pause, 0.1 * ms, 2 * step_ns);
    tasks.wait();
  });
}

// Where the interrupted thread answers, it sets the pause anew. This one does not: no thread interrupts itself.
TEST(interrupt_pauses_of_one_worker, last_a_millisecond_when_it_does_not_answer) {
  run_on(1, options{.policy = "standard", .interrupt_after_ns = 100'000}, [](scheduler&) {
    detail::worker& victim = *detail::worker::of_this_thread();
    detail::interrupter by(victim.common.team, 100'000);
    victim.calm();
    victim.asked.has_nothing.store(false, std::memory_order_relaxed);
    victim.ask();
    EXPECT_FALSE(by.interrupt_if_due(victim));
    platform::charge(0.1 * ms);
    EXPECT_TRUE(by.interrupt_if_due(victim));
    EXPECT_FALSE(by.interrupt_if_due(victim));
    platform::charge(0.9 * ms);
    EXPECT_FALSE(by.interrupt_if_due(victim));
    platform::charge(0.1 * ms);
    EXPECT_TRUE(by.interrupt_if_due(victim));
  });
}

}  // namespace
}  // namespace filch::vm
