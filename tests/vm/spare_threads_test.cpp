// How many threads a scheduler starts to take the place of blocked workers.
#include <atomic>

#include <gtest/gtest.h>

#include <filch/filch.hpp>
#include <filch/platform/memory.hpp>
#include <filch/platform/work.hpp>
#include <filch/vm.hpp>
#include <filch/vm/simulation.hpp>

namespace filch::vm {
namespace {

constexpr double us = 1e3;

TEST(spare_threads, are_used_again) {
  int spares = 0;
  simulation machine(load_machine("generic", MACHINES_FOLDER), 1, 32);
  machine.run([&] {
    scheduler pool({.workers = 2, .on_start = [&](int index) { spares += index < 0 ? 1 : 0; }});
    pool.run([] {
      const auto block = [] { const blocking here; };
      for (int i = 0; i < 1000; ++i) {
        block();
        platform::charge(100'000);
      }
    });
  });
  EXPECT_GE(spares, 1);
  EXPECT_LE(spares, 4);
}

/// A thread that has served submitted tasks alone does not stand in for a blocked one when the scheduler ends.
TEST(spare_threads, of_ended_service_do_not_stand_in) {
  bool ran_in_time = false;
  const auto await = [](platform::atomic<bool>& what) {
    while (!what.load(std::memory_order_relaxed)) charge(us);
  };
  simulation machine(load_machine("generic", MACHINES_FOLDER), 1, 32);
  machine.run([&] {
    platform::atomic<bool> kept_is_busy{false};
    platform::atomic<bool> other_is_busy{false};
    platform::atomic<bool> may_end{false};
    platform::atomic<bool> branch_ran{false};
    scheduler pool({.workers = 1});
    pool.run([&] {
      // The first spare thread runs a task of the group, and from there on one that is submitted. That one is left behind.
      task_group group;
      group.run([&] {
        static_cast<void>(pool.submit([&] {
          kept_is_busy.store(true, std::memory_order_relaxed);
          await(may_end);
        }));
        await(kept_is_busy);  // the second spare thread has come for it, and serves submitted tasks alone
        static_cast<void>(pool.submit([&] {
          other_is_busy.store(true, std::memory_order_relaxed);
          charge(1000 * us);  // until the scheduler ends
          for (int i = 0; i < 4; ++i) static_cast<void>(pool.submit([] { charge(10'000 * us); }));
          fork_join(
              [&] {
                const blocking here;
                may_end.store(true, std::memory_order_relaxed);
                for (int i = 0; i < 1000 && !branch_ran.load(std::memory_order_relaxed); ++i) charge(us);
                ran_in_time = branch_ran.load(std::memory_order_relaxed);
              },
              [&] { branch_ran.store(true, std::memory_order_relaxed); });
        }));
      });
      {
        const blocking here;
        await(other_is_busy);
      }
      group.wait();
    });
  });
  EXPECT_TRUE(ran_in_time);
}

}  // namespace
}  // namespace filch::vm
