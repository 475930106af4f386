// What the tests of adaptive tasks split: numbers, each of which is one unit of work.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "support.hpp"

namespace filch::tests {

/// The numbers of an interval, each to be entered into an account once. Can only be moved.
class interval_task {
 public:
  interval_task(account& into, std::size_t first, std::size_t last) : into_(&into), first_(first), last_(last) {}
  interval_task(interval_task&& from) noexcept
      : into_(from.into_), first_(from.first_), last_(std::exchange(from.last_, from.first_)) {}
  interval_task(const interval_task&) = delete;
  interval_task& operator=(const interval_task&) = delete;
  interval_task& operator=(interval_task&&) = delete;
  ~interval_task() = default;

  bool step(std::size_t budget) {
    const std::size_t end = first_ + std::min(budget, size());
    while (first_ != end) into_->ran(first_++);
    return first_ != last_;
  }

  std::optional<interval_task> split() {
    if (size() < 2) return std::nullopt;
    const std::size_t middle = first_ + size() / 2;
    return std::optional<interval_task>(std::in_place, *into_, middle, std::exchange(last_, middle));
  }

  [[nodiscard]] std::size_t size() const { return last_ - first_; }

 private:
  account* into_;
  std::size_t first_;
  std::size_t last_;
};

}  // namespace filch::tests
