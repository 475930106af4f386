// Interrupts on the many-core machine, whose time is virtual: what they cost, when they arrive, and what they cure.
#include "platform/interrupt.hpp"

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <filch/filch.hpp>
#include <filch/vm.hpp>
#include <filch/vm/simulation.hpp>

#include "platform/clock.hpp"
#include "platform/parker.hpp"
#include "platform/thread.hpp"

namespace filch {
namespace {

constexpr double us = 1e3;
constexpr double ms = 1e6;

const vm::machine_description& machine() {
  static const vm::machine_description generic = vm::load_machine("generic", MACHINES_FOLDER);
  return generic;
}

double now_ns() { return vm::now_s() * 1e9; }

double handled_ns = 0;
void note_time() noexcept { handled_ns = now_ns(); }

TEST(vm_interrupt, arrives_in_the_middle_of_work_which_takes_as_long_as_it_would_have) {
  vm::simulation world(machine(), 1, 2);
  double sent_ns = 0;
  double ended_ns = 0;
  world.run([&] {
    platform::handle_interrupts(&note_time);
    platform::thread_id victim = platform::no_thread;
    platform::thread other(0, [&] {
      victim = platform::current_thread();
      vm::charge(5 * ms);
      ended_ns = now_ns();
    });
    vm::charge(2 * ms);
    EXPECT_TRUE(platform::interrupt(victim));
    sent_ns = now_ns();
    other.join();
    EXPECT_FALSE(platform::interrupt(victim));  // it has ended
  });
  EXPECT_NEAR(sent_ns, 2 * ms + machine().system.signal_call_ns, 1 * us);
  EXPECT_NEAR(handled_ns - sent_ns, machine().system.signal_latency_ns, 1 * us);
  EXPECT_NEAR(ended_ns, 5 * ms, 10 * us);
}

TEST(vm_interrupt, of_a_sleeper_has_no_effect_and_a_sleep_ends_at_its_deadline) {
  vm::simulation world(machine(), 1, 2);
  double woke_ns = 0;
  double early_ns = 0;
  handled_ns = 0;
  world.run([&] {
    platform::handle_interrupts(&note_time);
    platform::thread_id sleeper = platform::no_thread;
    platform::parker bed;
    platform::thread other(0, [&] {
      sleeper = platform::current_thread();
      bed.park_until(static_cast<std::int64_t>(3 * ms));
      woke_ns = now_ns();
      bed.park_until(static_cast<std::int64_t>(100 * ms));
      early_ns = now_ns();
    });
    vm::charge(1 * ms);
    EXPECT_TRUE(platform::interrupt(sleeper));
    vm::charge(5 * ms);
    bed.unpark();
    other.join();
  });
  EXPECT_EQ(handled_ns, 0);
  EXPECT_NEAR(woke_ns, 3 * ms + machine().system.wake_latency_ns, 1 * us);
  EXPECT_NEAR(early_ns, 6 * ms, 20 * us);
}

/// How long the program takes on two workers, and how often one was interrupted.
struct outcome {
  double ns;
  std::uint64_t interrupts;
};

template <class Program>
outcome time_of(const options& chosen, const Program& program) {
  vm::simulation world(machine(), 1, chosen.workers + (chosen.interrupt_every_ns.value_or(0) != 0 ? 1 : 0));
  outcome took{};
  world.run([&] {
    scheduler pool(chosen);
    vm::charge(1 * ms);  // the others sleep
    const double begin_ns = now_ns();
    pool.run(program);
    took = {now_ns() - begin_ns, pool.stats().interrupts};
  });
  return took;
}

void two_long_tasks() {
  fork_join([] { vm::charge(54 * ms); }, [] { vm::charge(54 * ms); });
}

/// The second worker becomes idle in the middle of the first long task.
void two_long_tasks_below_another() {
  fork_join(two_long_tasks, [] { vm::charge(20 * ms); });
}

void four_long_iterations() {
  parallel_for(0, 4, [](int) { vm::charge(20 * ms); });
}

class vm_interrupts : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] options with(std::int64_t after_ns) const {
    return {.workers = 2, .policy = GetParam(), .interrupt_after_ns = after_ns};
  }
};

TEST_P(vm_interrupts, cure_starvation_below_a_long_task) {
  const outcome on = time_of(with(100'000), two_long_tasks_below_another);
  EXPECT_LT(on.ns, 76 * ms);  // 54 ms after the 20
  const outcome off = time_of(with(0), two_long_tasks_below_another);
  EXPECT_EQ(off.interrupts, 0U);
  // The others keep such tasks on offer.
  if (GetParam() == "standard" || GetParam() == "lace") return;
  EXPECT_GE(on.interrupts, 1U);
  EXPECT_GT(off.ns, 107 * ms);
}

TEST_P(vm_interrupts, let_two_long_tasks_take_the_time_of_one) {
  EXPECT_LT(time_of(with(100'000), two_long_tasks).ns, 56 * ms);
}

TEST_P(vm_interrupts, let_long_iterations_be_shared) {
  EXPECT_LT(time_of(with(100'000), four_long_iterations).ns, 42 * ms);
}

TEST_P(vm_interrupts, that_find_nothing_become_rare) {
  const outcome took = time_of(with(100'000), [] { fork_join([] { vm::charge(1000 * ms); }, [] {}); });
  EXPECT_LE(took.interrupts, 24U);  // after 1, 2, 4, ... 64 ms, and then every 64
}

TEST_P(vm_interrupts, are_soon_again_when_the_task_that_had_nothing_has_ended) {
  const outcome took = time_of(with(100'000), [] {
    fork_join([] { vm::charge(150 * ms); }, [] {});
    four_long_iterations();
  });
  EXPECT_LT(took.ns, 193 * ms);  // 150 ms, and 40 for four iterations on two workers
}

TEST_P(vm_interrupts, come_to_no_task_that_is_shorter_than_the_wait_for_an_answer) {
  options three = with(100'000);
  three.workers = 3;  // one of them has nothing to do, and asks
  const outcome took = time_of(three, [] {
    for (int i = 0; i < 1000; ++i) fork_join([] { vm::charge(40 * us); }, [] { vm::charge(40 * us); });
  });
  EXPECT_EQ(took.interrupts, 0U);
}

TEST_P(vm_interrupts, reach_a_worker_whose_task_runs_another_scheduler) {
  vm::simulation world(machine(), 1, 2);
  world.run([&] {
    scheduler inner({.workers = 1, .policy = GetParam()});
    scheduler pool(with(100'000));
    vm::charge(1 * ms);
    const double begin_ns = now_ns();
    pool.run([&] {
      fork_join([&] { fork_join([&] { inner.run([] { vm::charge(54 * ms); }); }, [] { vm::charge(54 * ms); }); },
                [] { vm::charge(20 * ms); });
    });
    EXPECT_LT(now_ns() - begin_ns, 76 * ms);  // 54 ms after the 20
    EXPECT_GE(pool.stats().interrupts, 1U);
  });
}

/// The group is on the heap, so the task is a detached one. Its waiter sleeps when it forks.
TEST_P(vm_interrupts, cure_starvation_below_a_detached_task) {
  const outcome took = time_of(with(100'000), [] {
    const auto group = std::make_unique<task_group>();
    group->run([] {
      vm::charge(2 * ms);
      two_long_tasks_below_another();
    });
    vm::charge(1 * ms);  // the other worker takes it
    group->wait();
  });
  EXPECT_LT(took.ns, 78 * ms);  // 2, 20, and 54
  EXPECT_GE(took.interrupts, 1U);
}

INSTANTIATE_TEST_SUITE_P(all, vm_interrupts,
                         testing::Values("standard", "lace", "receiver", "receiver_blocking", "sender"),
                         [](const auto& each) { return each.param; });

/// Programs of 108 ms in coarse parts, and how long they take if nobody starves: after 20 ms of something else on the
/// second worker, as much as both can do at once.
struct coarse {
  const char* name;
  void (*run)();
  double ideal_ms = 74;
};

constexpr coarse coarse_programs[] = {
    {"tasks", &two_long_tasks},
    {"tasks_below_tasks",
     [] {
       const auto half = [] { fork_join([] { vm::charge(27 * ms); }, [] { vm::charge(27 * ms); }); };
       fork_join(half, half);
     }},
    {"loop", [] { parallel_for(0, 2, [](int) { vm::charge(54 * ms); }); }},
    {"loop_of_four", [] { parallel_for(0, 4, [](int) { vm::charge(27 * ms); }); }},
    {"tasks_in_a_loop",
     [] { parallel_for(0, 2, [](int) { fork_join([] { vm::charge(27 * ms); }, [] { vm::charge(27 * ms); }); }); }},
    {"group",
     [] {
       task_group tasks;
       for (int i = 0; i < 2; ++i) tasks.run([] { vm::charge(54 * ms); });
       tasks.wait();
     }},
    {"group_of_eight",
     [] {
       task_group tasks;
       for (int i = 0; i < 8; ++i) tasks.run([] { vm::charge(13.5 * ms); });
       tasks.wait();
     },
     67.5},
    {"group_on_the_heap",
     [] {
       const auto tasks = std::make_unique<task_group>();
       for (int i = 0; i < 2; ++i) tasks->run([] { vm::charge(54 * ms); });
       tasks->wait();
     }},
    {"tasks_after_a_while",
     [] {
       vm::charge(1 * ms);
       two_long_tasks();
     },
     75},
};

options two_workers(const std::string& policy, std::int64_t interrupt_after_ns) {
  options chosen;
  chosen.workers = 2;
  chosen.policy = policy;
  chosen.interrupt_after_ns = interrupt_after_ns;
  return chosen;
}

/// Two workers, one of which is busy for the first 20 ms.
class vm_coarse : public testing::TestWithParam<std::string> {};

TEST_P(vm_coarse, tasks_do_not_starve) {
  const bool keeps_on_offer = GetParam() == "standard" || GetParam() == "lace";
  for (const coarse& each : coarse_programs) {
    for (const std::int64_t after_ns : {0, 100'000}) {
      const outcome took =
          time_of(two_workers(GetParam(), after_ns), [&] { fork_join(each.run, [] { vm::charge(20 * ms); }); });
      std::cout << GetParam() << ", " << each.name << (after_ns == 0 ? "" : ", interrupts") << ": " << took.ns / ms
                << " ms\n";
      EXPECT_TRUE(after_ns != 0 || took.interrupts == 0);
      if (after_ns != 0 || keeps_on_offer) {
        EXPECT_LT(took.ns, each.ideal_ms * ms + 0.5 * ms) << each.name;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(all, vm_coarse, testing::Values("standard", "lace", "receiver", "receiver_blocking", "sender"),
                         [](const auto& each) { return each.param; });

class vm_offers : public testing::TestWithParam<std::string> {};

/// The owner has looked and had nothing, and was asked, when the bag begins. (A thief of `receiver` asks once more.)
TEST_P(vm_offers, are_made_before_the_first_item_of_a_bag) {
  const outcome took = time_of(two_workers(GetParam(), 0), [] {
    fork_join([] { vm::charge(200 * us); }, [] {});
    work_bag<int> items;
    for (int i = 0; i < 2; ++i) items.push(i);
    items.process([](int&, feeder<int>&) { vm::charge(50 * ms); });
  });
  EXPECT_LT(took.ns, 53 * ms);
}

INSTANTIATE_TEST_SUITE_P(all, vm_offers, testing::Values("standard", "lace", "receiver", "receiver_blocking", "sender"),
                         [](const auto& each) { return each.param; });

TEST(vm_statistics, count_the_wait_for_the_end_of_a_counted_call) {
  // The first unit, then one for each worker; the caller's is the shorter one.
  struct units {
    int first;
    int last;
    bool step(std::size_t /*budget*/) {
      vm::charge((first == 2 ? 5 : 1) * ms);
      return ++first != last;
    }
    std::optional<units> split() {
      if (last - first < 2) return std::nullopt;
      return units{first + 1, std::exchange(last, first + 1)};
    }
  };
  for (const termination end : {termination::join, termination::counted}) {
    vm::simulation world(machine(), 1, 2);
    world.run([&] {
      scheduler pool({.workers = 2});
      pool.run([&] { adaptive(units{0, 3}, {.budget = 1, .end = end}); });
      EXPECT_NEAR(static_cast<double>(pool.stats().wait_ns), 4 * ms, 0.2 * ms);
    });
  }
}

TEST(vm_ticker, makes_a_sender_deal_in_the_middle_of_a_task) {
  const outcome took =
      time_of({.workers = 2, .policy = "sender", .interrupt_after_ns = 0, .interrupt_every_ns = 500'000},
              two_long_tasks_below_another);
  EXPECT_LT(took.ns, 76 * ms);
  EXPECT_GE(took.interrupts, 1U);
}

}  // namespace
}  // namespace filch
