#include "deque/split_deque.hpp"

#include <algorithm>

// The owner's own loads of the word before it changes it are relaxed: where nothing is shared they read what it wrote
// itself, and elsewhere the compare-and-swap that follows fails if a thief has changed the word since.
namespace filch::detail::deque {

std::uint64_t split_deque::pack(const view& v) noexcept {
  return v.tail | (std::uint64_t{v.split} << index_bits) | (std::uint64_t{v.epoch} << epoch_shift) |
         (v.all_stolen ? all_stolen_bit : 0);
}

split_deque::view split_deque::unpack(std::uint64_t word) noexcept {
  return {.tail = static_cast<index>(word & index_mask),
          .split = static_cast<index>((word >> index_bits) & index_mask),
          .epoch = static_cast<std::uint32_t>((word >> epoch_shift) & epoch_mask),
          .all_stolen = (word & all_stolen_bit) != 0};
}

split_deque::view split_deque::load() const noexcept {
  // [SD1] seq_cst: acquires the ends of activations ([AC2]) from [SD3] or [SD4]; and a worker about to sleep must see
  // every offer whose owner did not see it fall asleep ([SL3]).
  return unpack(word_.load(std::memory_order_seq_cst));
}

bool split_deque::take(const view& seen, index count) noexcept {
  std::uint64_t expected = pack(seen);
  view next = seen;
  next.tail += count;
  // [SD2] acquire: the slots, from [SD3] or [SD4]. [SD1] does not suffice: the owner may have taken the tasks back and
  // shared others, with the same word as before. As a read-modify-write it continues their release sequence for the
  // next thief. Not a release: the owner learns nothing from it but the index, and waits for the task's own state.
  return word_.compare_exchange_strong(expected, pack(next), std::memory_order_acquire, std::memory_order_relaxed);
}

void split_deque::share_first(index first) noexcept {
  // Owner's own value: only the owner writes while nothing is shared (invariant 2).
  view v = unpack(word_.load(std::memory_order_relaxed));
  v.tail = first;
  v.split = first + 1;
  v.all_stolen = false;
  // [SD3] seq_cst: releases the slot to [SD1]; and comes before the look for sleepers ([SL1]) in the one total order.
  word_.store(pack(v), std::memory_order_seq_cst);
}

void split_deque::grow(index new_split) noexcept {
  std::uint64_t seen = word_.load(std::memory_order_relaxed);
  view v = unpack(seen);
  do {
    v = unpack(seen);
    v.split = new_split;
    // [SD4] seq_cst: as [SD3].
  } while (!word_.compare_exchange_weak(seen, pack(v), std::memory_order_seq_cst, std::memory_order_relaxed));
}

split_deque::shrunk split_deque::shrink(index wanted, index& new_split, bool only_that) noexcept {
  std::uint64_t seen = word_.load(std::memory_order_relaxed);
  for (;;) {
    view v = unpack(seen);
    new_split = v.split;
    if (v.all_stolen || v.tail >= v.split) return shrunk::all_stolen;
    if (v.tail > wanted) return shrunk::taken;
    v.split = only_that ? wanted : std::min((v.tail + v.split) / 2, wanted);
    // [SD5] relaxed: what becomes private was written by the owner itself. That no thief has it follows from the word
    // alone: all its changes are read-modify-writes of one location.
    if (word_.compare_exchange_weak(seen, pack(v), std::memory_order_relaxed, std::memory_order_relaxed)) {
      new_split = v.split;
      return shrunk::reclaimed;
    }
  }
}

void split_deque::set_all_stolen(index head) noexcept {
  view v = unpack(word_.load(std::memory_order_relaxed));
  v.tail = head;
  v.split = head;
  v.all_stolen = true;
  // [SD6] relaxed: takes nothing back and publishes nothing (invariant 2).
  word_.store(pack(v), std::memory_order_relaxed);
}

void split_deque::next_epoch() noexcept {
  std::uint64_t seen = word_.load(std::memory_order_relaxed);
  view v{};
  do {
    v = unpack(seen);
    v.epoch = (v.epoch + 1) & epoch_mask;
    if (!v.something_shared()) {
      word_.store(pack(v), std::memory_order_relaxed);
      return;
    }
    // [SD7] relaxed: whatever is shared after the epoch changed is published by [SD3] or [SD4], which also release the
    // end of the activation; until then a view of the old epoch holds nothing of the task that ended.
  } while (!word_.compare_exchange_weak(seen, pack(v), std::memory_order_relaxed, std::memory_order_relaxed));
}

}  // namespace filch::detail::deque
