// What the tests share: the configurations that every construct is tried with, and the account of tasks by identity.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <filch/filch.hpp>

namespace filch::tests {

/// One way to make a scheduler.
struct configuration {
  std::string policy;
  std::string join;
  bool steal_half = false;
  int workers = 2;

  [[nodiscard]] filch::options options() const {
    return {.workers = workers, .policy = policy, .join = join, .steal_half = steal_half};
  }
  [[nodiscard]] std::string name() const {
    return policy + "_" + join + (steal_half ? "_half_" : "_") + std::to_string(workers);
  }
  friend std::ostream& operator<<(std::ostream& out, const configuration& c) { return out << c.name(); }
};

/// Can thieves of that policy get several tasks at once?
inline bool steals_half(std::string_view policy) {
  return policy == "lace" || policy == "receiver" || policy == "sender";
}

/// Is the full product of policies, joins and workers wanted? Set by the test presets of "make check-all".
inline bool full_product_wanted() {
  const char* const chosen = std::getenv("FILCH_TESTS");
  return chosen != nullptr && std::string_view(chosen) == "full";
}

/// A policy with steal-half or without, and the joins that go with it, its default first.
struct policy_variant {
  std::string policy;
  bool steal_half;
  std::vector<std::string> joins;
};

inline std::vector<policy_variant> policy_variants() {
  std::vector<policy_variant> all;
  for (const auto& c : combinations()) {
    if (c.policy == "serial") continue;        // serial_test.cpp: nothing is ever stolen
    if (c.policy == "adws_nosteal") continue;  // adws_test.cpp: what is here waits for thieves
    // lace, where workers are not bound, and outside of repeated parts; what they add has tests of its own
    // (hierarchical_test.cpp, constrained_test.cpp).
    const bool as_lace = c.policy == "hierarchical" || c.policy == "constrained";
    if (as_lace && !full_product_wanted()) continue;
    std::vector<std::string> joins{std::string(c.default_join)};
    for (const auto join : c.joins) {
      if (join != c.default_join) joins.emplace_back(join);
    }
    all.push_back({std::string(c.policy), false, joins});
    if (steals_half(c.policy)) all.push_back({std::string(c.policy), true, joins});
  }
  return all;
}

/// The configurations that a construct is tried with, for the given numbers of workers: the full product, or a
/// selection that has each variant of a policy with its default join and with one of its other joins. Numbers of
/// workers take turns, so that each meets every join and about every policy; repeating the call changes nothing.
inline std::vector<configuration> configurations(const std::vector<int>& workers) {
  std::vector<configuration> all;
  const std::vector<policy_variant> variants = policy_variants();
  for (std::size_t i = 0; i != variants.size(); ++i) {
    const auto& [policy, half, joins] = variants[i];
    if (full_product_wanted()) {
      for (const std::string& join : joins) {
        for (const int n : workers) all.push_back({policy, join, half, n});
      }
      continue;
    }
    all.push_back({policy, joins.front(), half, workers[i % workers.size()]});
    if (joins.size() == 1) continue;
    const std::size_t other = 1 + (i / workers.size()) % (joins.size() - 1);
    all.push_back({policy, joins[other], half, workers[(i + 1) % workers.size()]});
  }
  return all;
}

/// Those of them in which waits are promised to be safe.
inline std::vector<configuration> safe_configurations(const std::vector<int>& workers) {
  std::vector<configuration> safe = configurations(workers);
  std::erase_if(safe, [](const configuration& c) { return !has_safe_waits(c.join); });
  return safe;
}

inline std::string name_of(const testing::TestParamInfo<configuration>& info) { return info.param.name(); }

/// A number that looks like a random one.
inline std::size_t scrambled(std::size_t i) { return (i * 0x9E3779B97F4A7C15ULL) >> 32; }

/// Do owners of that policy give a task away only when they look up, at a push or a join?
inline bool keeps_tasks_private(std::string_view policy) {
  return policy == "receiver" || policy == "receiver_blocking" || policy == "sender";
}

/// Waits for something that a stolen sibling does, and looks up meanwhile, so that owners of any policy give what they are asked for.
inline void give_until(const std::atomic<bool>& flag) {
  while (!flag) fork_join([] {}, [] { std::this_thread::yield(); });
}

/// Waits for something that a stolen sibling does, and gives nothing away meanwhile that the policy does not make it.
inline void wait_for_thief(const std::atomic<bool>& flag, std::string_view policy) {
  if (keeps_tasks_private(policy)) {
    give_until(flag);
  } else {
    while (!flag) std::this_thread::yield();
  }
}

/// Calls body() `rounds` times, and then until a worker has stolen something from another one: what ran on one worker
/// alone has shown nothing. Fails if nobody ever steals.
template <class Body>
void until_stolen(const scheduler& s, int rounds, const Body& body) {
  constexpr int most_rounds = 100'000;
  const auto thefts = [&] {
    const statistics now = s.stats();
    return now.steals + now.leaps + now.migrations;
  };
  const auto before = thefts();
  for (int round = 0; round < rounds || (s.workers() > 1 && thefts() == before); ++round) {
    ASSERT_LT(round, most_rounds) << "nothing was stolen";
    body();
    if (testing::Test::HasFatalFailure()) return;
    if (round >= rounds) std::this_thread::yield();  // the thieves may have no processor
  }
}

/// Counts how often each of a number of tasks ran: "exactly once" is asked of every single one, not of a sum.
class account {
 public:
  explicit account(std::size_t tasks) : size_(tasks), runs_(new std::atomic<unsigned>[tasks]()) {}
  void ran(std::size_t task) { runs_[task].fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] unsigned runs(std::size_t task) const { return runs_[task].load(std::memory_order_relaxed); }

  /// The first task that did not run exactly `times` times; size() when there is none.
  [[nodiscard]] std::size_t first_not(unsigned times) const {
    for (std::size_t i = 0; i < size_; ++i) {
      if (runs(i) != times) return i;
    }
    return size_;
  }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::size_t size_;
  std::unique_ptr<std::atomic<unsigned>[]> runs_;
};

}  // namespace filch::tests
