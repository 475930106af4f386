// The programs that the explorer runs: each exercises one protocol in a small way, and checks itself.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <filch/filch.hpp>
#include <filch/platform/memory.hpp>

#include "platform/thread.hpp"
#include "vm/explorer/explorer.hpp"

namespace filch::explore {

using namespace detail;

struct scenario {
  std::string name;
  std::string about;
  std::function<void()> body;
};

using scenario_list = std::vector<scenario>;

// One function for each file.
void add_split_deque(scenario_list& to);
void add_ring_deque(scenario_list& to);
void add_cells(scenario_list& to);
void add_closure_pool(scenario_list& to);
void add_joins(scenario_list& to);
void add_lineage(scenario_list& to);
void add_loops(scenario_list& to);
void add_groups(scenario_list& to);
void add_background(scenario_list& to);
void add_bags(scenario_list& to);
void add_adaptive(scenario_list& to);
void add_sleep(scenario_list& to);
void add_asleep(scenario_list& to);
void add_interrupts(scenario_list& to);
void add_lifecycle(scenario_list& to);
void add_adws(scenario_list& to);
void add_constrained(scenario_list& to);
void add_exports(scenario_list& to);
void add_waves(scenario_list& to);
void add_places(scenario_list& to);

/// All of them.
scenario_list scenarios();

using platform::vm::check;

/// Plain data that one task writes and another reads: a race on it fails the exploration.
using payload = platform::shared<int>;

/// Which tasks ran how often. (All virtual threads are one real one, so plain counters do.)
class account {
 public:
  explicit account(std::size_t tasks) : runs_(tasks) {}
  void ran(std::size_t task) { check(++runs_[task] == 1, "task " + std::to_string(task) + " ran twice"); }
  [[nodiscard]] bool has_run(std::size_t task) const { return runs_[task] != 0; }
  void check_all() const {
    for (std::size_t i = 0; i < runs_.size(); ++i) check(runs_[i] == 1, "task " + std::to_string(i) + " did not run");
  }

 private:
  std::vector<int> runs_;
};

/// Splits off the upper half of what an adaptive task has left, from `first` to `last`.
template <class Interval>
std::optional<Interval> upper_half(Interval& whole) {
  if (whole.last - whole.first < 2) return std::nullopt;
  Interval half = whole;
  half.first = whole.last = std::midpoint(whole.first, whole.last);
  return half;
}

/// Runs the parts side by side, the first on the calling thread.
inline void in_parallel(const std::vector<std::function<void()>>& parts) {
  std::vector<std::unique_ptr<platform::thread>> threads;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    threads.push_back(std::make_unique<platform::thread>(0, parts[i]));
  }
  parts[0]();
  for (const auto& t : threads) t->join();
}

/// Options of a small scheduler.
inline options small(int workers, std::string policy, std::string join, bool steal_half = false) {
  options chosen{.workers = workers,
                 .policy = std::move(policy),
                 .join = std::move(join),
                 .steal_half = steal_half,
                 .stack_bytes = 4096};
  if (chosen.policy == "sender") chosen.deal_interval_ns = 1;  // at each look, mostly
  return chosen;
}

}  // namespace filch::explore
