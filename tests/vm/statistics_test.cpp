// Which times and attempts a scheduler counts as what. Times are virtual.
#include <cstdint>

#include <gtest/gtest.h>

#include <filch/filch.hpp>
#include <filch/platform/work.hpp>

#include "run_on.hpp"

namespace filch::vm {
namespace {

constexpr double ms = 1e6;
constexpr double little = 0.2 * ms;  // thefts, and what it takes to fall asleep and to wake up

double number(std::uint64_t n) { return static_cast<double>(n); }

TEST(statistics, of_a_worker_without_a_task_are_idle_time) {
  run_on(2, "standard", [](scheduler& pool) {
    pool.reset_stats();
    platform::charge(5 * ms);
    EXPECT_NEAR(number(pool.stats().idle_ns), 5 * ms, little);
    EXPECT_EQ(pool.stats().wait_ns, 0U);
    pool.reset_stats();
    EXPECT_NEAR(number(pool.stats().idle_ns), 0, little);
  });
}

TEST(statistics, of_a_worker_that_joins_a_stolen_task_are_waiting_time) {
  run_on(2, "standard", [](scheduler& pool) {
    pool.reset_stats();
    fork_join([] { platform::charge(1 * ms); }, [] { platform::charge(5 * ms); });
    EXPECT_EQ(pool.stats().steals, 1U);
    EXPECT_NEAR(number(pool.stats().wait_ns), 4 * ms, little);
    EXPECT_NEAR(number(pool.stats().idle_ns), 0, little);
    pool.reset_stats();
    EXPECT_EQ(pool.stats().wait_ns, 0U);
    EXPECT_NEAR(number(pool.stats().idle_ns), 0, little);
  });
}

// A thief that searches finds nothing until it sleeps, and then does not search.
TEST(statistics, of_searches_that_find_nothing_are_failed_steals) {
  run_on(2, "standard", [](scheduler& pool) {
    platform::charge(1 * ms);
    const std::uint64_t before = pool.stats().failed_steals;
    EXPECT_GT(before, 0U);
    platform::charge(1 * ms);
    EXPECT_EQ(pool.stats().failed_steals, before);
    pool.reset_stats();
    EXPECT_EQ(pool.stats().failed_steals, 0U);
  });
}

}  // namespace
}  // namespace filch::vm
