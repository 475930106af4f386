// What the tests of loops and reductions share: the ways to split, the schedulers that everything must hold in, a range
// as a user would write one, and an account of the parts that a body was given.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <ostream>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <filch/filch.hpp>

#include "support.hpp"

namespace filch::tests {

/// A way to split a loop, with its name for messages.
struct named_way {
  std::string_view name;
  splitting how;

  [[nodiscard]] constexpr splitting with_grain(std::size_t grain) const { return {how.kind, grain}; }
  friend std::ostream& operator<<(std::ostream& out, const named_way& w) { return out << w.name; }
};

/// The ways that go with every policy.
inline constexpr std::array<named_way, 10> common_ways{{{"inherited", {}},
                                                        {"work_first", loop::work_first{}},
                                                        {"help_first", loop::help_first{}},
                                                        {"simple", loop::simple{}},
                                                        {"automatic", loop::automatic{}},
                                                        {"lazy_depth", loop::lazy_depth{}},
                                                        {"lazy_depth2", loop::lazy_depth2{}},
                                                        {"lazy_breadth", loop::lazy_breadth{}},
                                                        {"fixed", loop::fixed{}},
                                                        {"dynamic", loop::dynamic{}}}};

/// All ways that go with a policy. `standard` waits for somebody to ask, and thieves of chase_lev never do.
inline std::vector<named_way> ways_for(std::string_view policy) {
  std::vector<named_way> ways(common_ways.begin(), common_ways.end());
  if (policy != "chase_lev") ways.push_back({"standard", loop::standard{}});
  return ways;
}

/// The schedulers that loops and reductions are tried in.
inline std::vector<configuration> loop_configurations() { return configurations({1, 2, 3, 8}); }

/// Gets the workers of a scheduler out of their sleep, as many as come within a moment, so that what follows is shared.
/// Nobody waits for anybody without end: no test depends on who helps.
inline void wake(scheduler& s) {
  constexpr int most_turns = 200;
  std::atomic<int> awake = 1;
  s.run([&] {
    std::atomic<bool> enough = false;
    task_group group;
    for (int k = 1; k < s.workers(); ++k) {
      group.run([&] {
        ++awake;
        for (int turn = 0; turn < most_turns && !enough; ++turn) std::this_thread::yield();
      });
    }
    for (int turn = 0; turn < most_turns && awake < s.workers(); ++turn) {
      fork_join([] {}, [] {});  // looks whether somebody asks for work
      std::this_thread::yield();
    }
    enough = true;
    group.wait();
  });
}

/// Something to do that takes `amount` steps and cannot be left out.
inline void work(std::size_t amount) {
  for (std::size_t i = 0; i < amount; ++i) {
    volatile std::size_t sink = i;
    static_cast<void>(sink);
  }
}

/// Some iterations take longer, so that there is time to share even a short loop.
inline void linger(std::size_t iteration) {
  if (iteration % 32 == 5) work(2000);
}

/// body(scheduler&) in one scheduler of each kind, whose workers are awake.
template <class Body>
void in_every_scheduler(Body body) {
  for (const configuration& c : loop_configurations()) {
    SCOPED_TRACE(c.name());
    scheduler s(c.options());
    wake(s);
    body(s);
    if (testing::Test::HasFatalFailure()) return;
  }
}

/// body(scheduler&, way) in one scheduler of each kind, with each way that goes with it.
template <class Body>
void in_every_way(Body body) {
  in_every_scheduler([&](scheduler& s) {
    for (const named_way& way : ways_for(s.policy())) {
      SCOPED_TRACE(way.name);
      body(s, way);
      if (testing::Test::HasFatalFailure()) return;
    }
  });
}

/// body() on a thread that is no worker, in a scheduler with one worker, and in one with several.
template <class Body>
void in_and_outside(Body body) {
  body();
  scheduler one({.workers = 1});
  one.run(body);
  scheduler four({.workers = 4});
  four.run(body);
}

/// A range as a user would write one: numbers, of which the second half is twice as large as the first.
class uneven_range {
 public:
  uneven_range(std::size_t first, std::size_t last, std::size_t largest = 1)
      : first_(first), last_(last), largest_(largest) {}
  uneven_range(uneven_range& from, split /*second half*/)
      : first_(from.first_ + (from.size() + 2) / 3), last_(from.last_), largest_(from.largest_) {
    from.last_ = first_;
  }
  [[nodiscard]] std::size_t first() const { return first_; }
  [[nodiscard]] std::size_t last() const { return last_; }
  [[nodiscard]] std::size_t size() const { return last_ - first_; }
  [[nodiscard]] bool empty() const { return first_ == last_; }
  [[nodiscard]] bool is_divisible() const { return size() > largest_; }

 private:
  std::size_t first_;
  std::size_t last_;
  std::size_t largest_;
};

/// The intervals that bodies were given, by any thread.
class part_list {
 public:
  using interval = std::pair<std::uint64_t, std::uint64_t>;

  void add(std::uint64_t first, std::uint64_t last) {
    const std::lock_guard lock(mutex_);
    parts_.emplace_back(first, last);
  }
  /// All of them, in order. For when the loop has ended.
  [[nodiscard]] std::vector<interval> sorted() const {
    std::vector<interval> parts = parts_;
    std::ranges::sort(parts);
    return parts;
  }
  /// Are the parts disjoint, none of them empty, and together [first, last)?
  [[nodiscard]] bool are_all_of(std::uint64_t first, std::uint64_t last) const {
    for (const auto& [low, high] : sorted()) {
      if (low != first || high <= low) return false;
      first = high;
    }
    return first == last;
  }

 private:
  std::mutex mutex_;
  std::vector<interval> parts_;
};

/// Something that is thrown or combined; counts the objects of itself that exist.
class tracked {
 public:
  static inline std::atomic<long> alive{0};

  explicit tracked(std::uint64_t value) : value_(value) { ++alive; }
  tracked(const tracked& other) : value_(other.value_) { ++alive; }
  tracked(tracked&& other) noexcept : value_(other.value_) { ++alive; }
  tracked& operator=(const tracked&) = default;
  tracked& operator=(tracked&&) = default;
  ~tracked() { --alive; }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_;
};

/// What a loop must look like of which the iteration `thrown` was the first that threw: it and all below it ran once,
/// no other one twice.
inline void expect_ran_up_to(const account& runs, std::size_t thrown) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i <= thrown) {
      ASSERT_EQ(runs.runs(i), 1U) << "iteration " << i << ", " << thrown << " threw";
    } else {
      ASSERT_LE(runs.runs(i), 1U) << "iteration " << i << ", " << thrown << " threw";
    }
  }
}

}  // namespace filch::tests
