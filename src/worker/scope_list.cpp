#include "worker/scope_list.hpp"

#include <functional>

#include <filch/detail/numbers.hpp>

namespace filch::detail {

scope_list::scope_list() : memory_(most * sizeof(entry)), entries_(static_cast<entry*>(memory_.data())) {}

void* scope_list::of_background() noexcept {
  static char scope;
  return &scope;
}

void scope_list::begin(const slot* from, std::uint64_t newest_number, void* scope) noexcept {
  const std::size_t depth = depth_.load(std::memory_order_relaxed);
  if (depth == most) {
    ++unlisted_;
    return;
  }
  // [SC1] relaxed: a thief has the task from an operation that released all this, or looks at entries that are not its
  // task's, which it can tell (invariant 2).
  entries_[depth].from.store(from, std::memory_order_relaxed);
  entries_[depth].number.store(newest_number, std::memory_order_relaxed);
  entries_[depth].scope.store(scope, std::memory_order_relaxed);
  // [SC2] release: a thief that sees the count sees an entry that was written for that place. No exploration catches this:
  // without it a thief may see what was there before, which it nearly always can tell.
  depth_.store(depth + 1, std::memory_order_release);
}

void scope_list::end() noexcept {
  if (unlisted_ != 0) {
    --unlisted_;
    return;
  }
  depth_.store(depth_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);  // [SC1]
}

void* scope_list::innermost() const noexcept {
  const std::size_t depth = depth_.load(std::memory_order_relaxed);
  return depth == 0 || unlisted_ != 0 ? nullptr : entries_[depth - 1].scope.load(std::memory_order_relaxed);
}

template <class Inside>
void* scope_list::innermost_with(Inside inside) const noexcept {
  std::size_t low = 0;
  std::size_t high = depth_.load(std::memory_order_acquire);  // [SC2]
  while (low != high) {
    const std::size_t middle = low + (high - low) / 2;
    if (inside(entries_[middle])) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low == 0 ? nullptr : entries_[low - 1].scope.load(std::memory_order_relaxed);
}

void* scope_list::of_slot(const slot* taken) const noexcept {
  return innermost_with(
      [&](const entry& e) { return !std::greater<>{}(e.from.load(std::memory_order_relaxed), taken); });
}

void* scope_list::of_number(std::uint64_t number) const noexcept {
  return innermost_with([&](const entry& e) { return began_after(number, e.number.load(std::memory_order_relaxed)); });
}

}  // namespace filch::detail
