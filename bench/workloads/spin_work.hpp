// Work of a given amount, for workloads that are made up: a chain of steps, each of which needs the one before. It is
// measured in steps, not by a clock, so that every run does the same.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <filch/vm.hpp>

namespace filch::bench {

/// One step of `spin`: four or five cycles. Look it up when a run begins.
inline vm::work spin_step("spin_step");

/// A number that takes so many steps to find.
inline std::uint64_t spin(std::uint64_t seed, std::uint64_t steps) {
  spin_step.done(static_cast<double>(steps));
  std::uint64_t bits = seed;
  for (std::uint64_t i = 0; i < steps; ++i) bits = (bits ^ bits >> 32) * 0x9e3779b97f4a7c15 + 1;
  return bits;
}

/// The iterations of a loop whose first ones have more work than the others. Different iterations may run at the same
/// time.
class spin_iterations {
 public:
  struct amounts {
    std::uint64_t first;        ///< How many are the first ones.
    std::uint64_t first_steps;  ///< Of each of them.
    std::uint64_t other_steps;  ///< Of each of the others.
  };

  spin_iterations(std::uint64_t n, amounts of) : n_(n), of_(of) {}

  void clear() { found_.assign(n_, 0); }
  void run(std::uint64_t i) { found_[i] = number(i); }

  std::uint64_t size() const { return n_; }
  std::uint64_t steps() const { return of_.first * of_.first_steps + (n_ - of_.first) * of_.other_steps; }
  std::uint64_t sum() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t each : found_) sum += each;
    return sum;
  }

  /// Whether every iteration ran since they were cleared. The first call runs all of them again.
  bool are_complete() const {
    if (expected_.empty()) {
      for (std::uint64_t i = 0; i < n_; ++i) expected_.push_back(number(i));
    }
    return found_ == expected_;
  }

 private:
  std::uint64_t number(std::uint64_t i) const { return spin(i, i < of_.first ? of_.first_steps : of_.other_steps); }

  std::uint64_t n_;
  amounts of_;
  std::vector<std::uint64_t> found_;
  mutable std::vector<std::uint64_t> expected_;
};

}  // namespace filch::bench
