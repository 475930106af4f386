// A search whose single steps are too small to be tasks: which numbers can be made from 1 by the steps "2 n + 1" and
// "9 n"? Numbers that are still to be looked at are kept together in one task, half of which goes to whoever has
// nothing to do.
#include <atomic>
#include <cstddef>
#include <iostream>
#include <optional>
#include <utility>
#include <vector>

#include <filch/filch.hpp>

namespace {

constexpr std::size_t bound = 1'000'000;

using marks = std::vector<std::atomic<bool>>;

class search {
 public:
  search(marks& found, std::vector<std::size_t> open) : found_(&found), open_(std::move(open)) {}

  // Looks at so many numbers; whether there are more.
  bool step(std::size_t budget) {
    for (; budget != 0 && !open_.empty(); --budget) {
      const std::size_t n = open_.back();
      open_.pop_back();
      for (const std::size_t next : {2 * n + 1, 9 * n}) {
        // Whoever finds a number first has to look at it.
        if (next < bound && !(*found_)[next].exchange(true, std::memory_order_relaxed)) open_.push_back(next);
      }
    }
    return !open_.empty();
  }

  // A new task with half of the numbers.
  std::optional<search> split() {
    if (open_.size() < 2) return std::nullopt;
    const auto middle = open_.begin() + static_cast<std::ptrdiff_t>(open_.size() / 2);
    search half(*found_, {open_.begin(), middle});
    open_.erase(open_.begin(), middle);
    return half;
  }

 private:
  marks* found_;
  std::vector<std::size_t> open_;
};

std::size_t count(const marks& found) {
  std::size_t numbers = 0;
  for (const auto& each : found) numbers += each ? 1 : 0;
  return numbers;
}

}  // namespace

int main() {
  marks found(bound);
  found[1] = true;
  filch::adaptive(search(found, {1}));

  // The same without help: a task that nobody splits.
  marks expected(bound);
  expected[1] = true;
  search alone(expected, {1});
  while (alone.step(bound)) {
  }

  std::cout << count(found) << " numbers below " << bound << '\n';
  return count(found) == count(expected) ? 0 : 1;
}
