#include "worker/activation_list.hpp"

namespace filch {

activation_list::activation_list(std::size_t capacity)
    : capacity_(capacity),
      memory_(capacity * sizeof(platform::atomic<std::uint64_t>)),
      // Zeroed pages are atomics that hold 0: no entry is touched before it is used.
      entries_(static_cast<platform::atomic<std::uint64_t>*>(memory_.data())) {}

void activation_list::begin(std::uint64_t epoch, std::uint32_t base) noexcept {
  const std::uint32_t depth = depth_.load(std::memory_order_relaxed);
  if (depth == capacity_) {
    ++unlisted_;
    return;
  }
  // [AC1] relaxed: who asks for this activation has its number from the task's state, released by [TS1] after this.
  entries_[depth].store((epoch << base_bits) | base, std::memory_order_relaxed);
  depth_.store(depth + 1, std::memory_order_relaxed);
}

void activation_list::end() noexcept {
  if (unlisted_ != 0) {
    --unlisted_;
    return;
  }
  const std::uint32_t depth = depth_.load(std::memory_order_relaxed) - 1;
  // [AC2] relaxed: released with the next offer of this worker ([SD3], [SD4], [CL2]) or with what it hands over next
  // ([TR2], [CC4], [CC5]), which is the first that a waiter could wrongly take for one of this activation.
  entries_[depth].store(0, std::memory_order_relaxed);
  depth_.store(depth, std::memory_order_relaxed);
}

std::uint64_t activation_list::innermost() const noexcept {
  const std::uint32_t depth = depth_.load(std::memory_order_relaxed);  // the owner's own, both
  return depth == 0 || unlisted_ != 0 ? 0 : entries_[depth - 1].load(std::memory_order_relaxed) >> base_bits;
}

std::optional<std::uint32_t> activation_list::find(std::uint64_t epoch) const noexcept {
  // The entries may change while they are searched; then an active number may be missed, and the waiter comes again.
  // Never is a number found that was erased before the search began.
  std::uint32_t low = 0;
  std::uint32_t high = depth_.load(std::memory_order_relaxed);
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    const std::uint64_t entry = entries_[middle].load(std::memory_order_relaxed);
    const std::uint64_t number = entry >> base_bits;
    if (number == epoch) return static_cast<std::uint32_t>(entry & ((std::uint64_t{1} << base_bits) - 1));
    if (entry == 0 || number > epoch) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return std::nullopt;
}

}  // namespace filch
