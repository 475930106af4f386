// Who of the tasks of a phaser waits for whom. Times are virtual, so the order is the same each time.
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <filch/filch.hpp>
#include <filch/phaser.hpp>
#include <filch/platform/work.hpp>

#include "run_on.hpp"

namespace filch::vm {
namespace {

constexpr std::size_t phases = 3;

struct outcome {
  std::vector<std::string> ended;  ///< phases of the slow and of the fast task, in that order
  std::size_t last = 0;            ///< the phaser's phase when both tasks have ended
};

outcome run_both(phaser_mode slow, phaser_mode fast) {
  outcome found;
  run_on(2, "standard", [&](scheduler&) {
    task_group group;
    phaser steps((slow == phaser_mode::wait_only ? 0 : 1) + (fast == phaser_mode::wait_only ? 0 : 1));
    const auto hold = [&](std::function<void()> f) -> detail::detached_task& {
      return detail::held_tasks::hold(group, std::move(f));
    };
    const auto add = [&](const std::string& name, double ns, phaser_mode mode) {
      const auto run = [&found, name, ns](std::size_t phase) {
        platform::charge(ns);
        found.ended.push_back(name + std::to_string(phase));
        return phase + 1 != phases;
      };
      steps.add(run, mode, hold);
    };
    add("slow", 1e6, slow);
    add("fast", 1e3, fast);
    group.wait();
    found.last = steps.phase();
  });
  return found;
}

using order = std::vector<std::string>;
const order in_step = {"fast0", "slow0", "fast1", "slow1", "fast2", "slow2"};

TEST(phaser, who_waits_begins_a_phase_when_all_who_signal_have_ended_the_one_before) {
  using enum phaser_mode;
  EXPECT_EQ(run_both(signal_wait, signal_wait).ended, in_step);
  EXPECT_EQ(run_both(signal_wait, wait_only).ended, in_step);
  EXPECT_EQ(run_both(signal_only, wait_only).ended, in_step);
}

TEST(phaser, who_only_signals_goes_on_at_once) {
  using enum phaser_mode;
  const order all_of_the_fast_one_first = {"fast0", "fast1", "fast2", "slow0", "slow1", "slow2"};
  EXPECT_EQ(run_both(signal_wait, signal_only).ended, all_of_the_fast_one_first);
}

TEST(phaser, is_in_the_phase_after_the_last_when_all_have_ended) {
  using enum phaser_mode;
  EXPECT_EQ(run_both(signal_wait, signal_wait).last, phases);
  EXPECT_EQ(run_both(signal_only, wait_only).last, phases);
}

}  // namespace
}  // namespace filch::vm
