#include "worker/activation_list.hpp"

namespace filch::detail {

activation_list::activation_list(std::size_t capacity)
    : capacity_(capacity),
      memory_(capacity * (sizeof(platform::atomic<std::uint64_t>) + sizeof(platform::atomic<const group_rest*>))),
      // Zeroed pages are atomics that hold 0: no entry is touched before it is used.
      entries_(static_cast<platform::atomic<std::uint64_t>*>(memory_.data())),
      groups_(reinterpret_cast<platform::atomic<const group_rest*>*>(entries_ + capacity)) {}

void activation_list::begin(std::uint64_t id, std::uint32_t base, const group_rest* group) noexcept {
  const std::uint32_t depth = depth_.load(std::memory_order_relaxed);
  if (depth == capacity_) {
    ++unlisted_;
    return;
  }
  // [AC3] release: that the entry of before is erased, for who finds this group beside that number. No exploration
  // catches this: it takes a waiter that stands still between two reads while this worker ends a task and begins
  // another.
  groups_[depth].store(group, std::memory_order_release);
  // [AC1] release: the group. Who asks for this activation by its number has that from the task's state, which is
  // released after this, and for a piece by the number of its share. No exploration catches this: as [AC3].
  entries_[depth].store((id << base_bits) | base, std::memory_order_release);
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

std::optional<std::uint32_t> activation_list::find(std::uint64_t id) const noexcept {
  // The entries may change while they are searched; then an active number may be missed, and the waiter comes again.
  // Never is a number found that was erased before the search began.
  std::uint32_t low = 0;
  std::uint32_t high = depth_.load(std::memory_order_relaxed);
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    const std::uint64_t entry = entries_[middle].load(std::memory_order_relaxed);
    const std::uint64_t number = entry >> base_bits;
    if (number == id) return static_cast<std::uint32_t>(entry & ((std::uint64_t{1} << base_bits) - 1));
    if (entry == 0 || began_after(number, id)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return std::nullopt;
}

std::uint64_t activation_list::find_group(const group_rest* group) const noexcept {
  const std::uint32_t depth = depth_.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < depth; ++i) {
    // The number first. If the group that is read after it is another activation's, then that one with this number has
    // ended, and whoever looks for it from now on does not find it.
    const std::uint64_t number = entries_[i].load(std::memory_order_acquire) >> base_bits;  // [AC1]
    if (number != 0 && groups_[i].load(std::memory_order_acquire) == group) return number;  // [AC3]
  }
  return 0;
}

void activation_list::leave_group() noexcept {
  if (unlisted_ != 0) return;
  // [AC5] relaxed: released with what the group is told ([DG1]).
  groups_[depth_.load(std::memory_order_relaxed) - 1].store(nullptr, std::memory_order_relaxed);
}

bool activation_list::has_group_inside(std::uint64_t id, const group_rest* group) const noexcept {
  const auto is_active = [&](std::uint32_t i) {
    return entries_[i].load(std::memory_order_acquire) >> base_bits == id;  // [AC1]
  };
  const std::uint32_t depth = depth_.load(std::memory_order_relaxed);
  std::uint32_t i = 0;
  while (i < depth && !is_active(i)) ++i;
  for (std::uint32_t inner = i + 1; inner < depth; ++inner) {
    // It is still active when the group has been read, so what is nested there is nested in it.
    if (groups_[inner].load(std::memory_order_acquire) == group) return is_active(i);  // [AC3]
  }
  return false;
}

}  // namespace filch::detail
