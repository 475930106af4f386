// Threads that take part in a scheduler for a while, on the many-core machine: what is left of them.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <filch/filch.hpp>
#include <filch/vm.hpp>
#include <filch/vm/simulation.hpp>

#include "platform/thread.hpp"

namespace filch {
namespace {

constexpr double us = 1e3;

class vm_guests : public testing::TestWithParam<std::string> {};

/// Forks for workers that sleep, search, and find.
double time_of_forks(scheduler& pool) {
  const double begin_s = vm::now_s();
  for (int i = 0; i < 20; ++i) {
    vm::charge(100 * us);
    pool.run([] {
      fork_join([] { vm::charge(20 * us); }, [] { vm::charge(20 * us); });
      parallel_for(0, 64, [](int) { vm::charge(2 * us); });
    });
  }
  return vm::now_s() - begin_s;
}

TEST_P(vm_guests, that_have_left_cost_nothing) {
  constexpr int guests = 300;
  vm::simulation world(vm::load_machine("4x80", MACHINES_FOLDER), 1, guests + 4);
  double before_s = 0;
  double after_s = 0;
  world.run([&] {
    scheduler pool({.workers = 4, .policy = GetParam()});
    before_s = time_of_forks(pool);
    std::vector<std::unique_ptr<platform::thread>> threads;
    for (int i = 0; i < guests; ++i) {
      threads.push_back(std::make_unique<platform::thread>(0, [&] { pool.run([] { vm::charge(3000 * us); }); }));
    }
    for (const auto& thread : threads) thread->join();
    after_s = time_of_forks(pool);
  });
  // The victims are others than before; if they were 304 instead of 4, it would take a fifth longer and more.
  EXPECT_LT(after_s, 1.05 * before_s);
}

/// Nobody wakes up, and looks around, while the only thread that works does not push anything.
TEST_P(vm_guests, who_work_alone_leave_the_others_asleep) {
  vm::simulation world(vm::load_machine("1x8", MACHINES_FOLDER), 1, 8);
  world.run([&] {
    scheduler pool({.workers = 8, .policy = GetParam()});
    pool.run([&] {
      fork_join(
          [&] {
            vm::charge(10'000 * us);
            const std::uint64_t before = pool.stats().parks;
            vm::charge(1e6 * us);
            EXPECT_EQ(pool.stats().parks, before);
          },
          [] {});
    });
  });
}

std::vector<std::string> policies() {
  std::vector<std::string> names;
  for (const combination& each : combinations()) names.emplace_back(each.policy);
  return names;
}

INSTANTIATE_TEST_SUITE_P(all, vm_guests, testing::ValuesIn(policies()), [](const auto& each) { return each.param; });

}  // namespace
}  // namespace filch
