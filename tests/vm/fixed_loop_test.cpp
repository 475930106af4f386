// Where loops of kind `fixed` run: of a loop that is not inside of another construct, part t belongs to worker t, as
// OpenMP's schedule(static) has it.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filch/filch.hpp>
#include <filch/platform/work.hpp>
#include <filch/vm/simulation.hpp>

#include "run_on.hpp"

namespace filch::vm {
namespace {

constexpr double iteration_ns = 5'000;

/// The kind belongs to the loop, so policies with another default take it as well.
std::vector<std::string> policies() {
  std::vector<std::string> all;
  for (const combination& each : combinations()) {
    if (each.policy != "serial") all.emplace_back(each.policy);  // which runs all of it where it is
  }
  return all;
}

/// The worker of each iteration.
std::vector<int> owners_of(int workers, const std::string& policy, std::size_t n) {
  std::vector<int> owners(n, -1);
  run_on(workers, policy, [&](scheduler&) {
    platform::charge(100'000);  // all others are asleep
    // Twice: the second time all are awake.
    for (int round = 0; round < 2; ++round) {
      std::fill(owners.begin(), owners.end(), -1);
      parallel_for(
          std::size_t{0}, n,
          [&](std::size_t i) {
            platform::charge(iteration_ns);
            owners[i] = this_worker();
          },
          loop::fixed{});
    }
  });
  return owners;
}

/// n iterations on P workers: equal parts, in order, of which the first ones may have one iteration more.
std::vector<int> by_rank(std::size_t n, std::size_t workers) {
  std::vector<int> owners;
  for (std::size_t t = 0; t < std::min(n, workers); ++t) {
    const std::size_t parts = std::min(n, workers);
    owners.insert(owners.end(), n / parts + (t < n % parts ? 1 : 0), static_cast<int>(t));
  }
  return owners;
}

class fixed_loop : public testing::TestWithParam<std::tuple<std::string, int>> {};

TEST_P(fixed_loop, part_t_is_worker_ts) {
  const auto& [policy, workers] = GetParam();
  for (const std::size_t n : {1U, 2U, 6U, 64U, 1000U}) {
    EXPECT_EQ(owners_of(workers, policy, n), by_rank(n, static_cast<std::size_t>(workers))) << n << " iterations";
  }
}

INSTANTIATE_TEST_SUITE_P(all, fixed_loop,
                         testing::Combine(testing::ValuesIn(policies()), testing::Values(2, 3, 7, 64)));

// A worker that is busy with something else does not hold up a loop: its part is taken back.
TEST(fixed_loops, wait_for_nobody_who_is_busy) {
  double took_s = 0;
  simulation machine(load_machine("4x16", MACHINES_FOLDER), 1, 2);
  machine.run([&] {
    scheduler pool({.workers = 2});
    pool.run([&] {
      task_group other;
      platform::atomic<bool> begun{false};
      other.run([&] {
        begun.store(true, std::memory_order_release);
        platform::charge(20'000'000);
      });
      // The oldest task is stolen.
      while (!begun.load(std::memory_order_acquire)) fork_join([] {}, [] { platform::charge(1'000); });
      const double begin_s = now_s();
      parallel_for(0, 4, [](int) { platform::charge(10'000); }, loop::fixed{});
      took_s = now_s() - begin_s;
      other.wait();
    });
  });
  // 40 us of work, and what a worker spins before it takes the part back.
  EXPECT_GT(took_s, 40e-6);
  EXPECT_LT(took_s, 150e-6);
}

}  // namespace
}  // namespace filch::vm
