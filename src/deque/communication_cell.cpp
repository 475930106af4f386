#include "deque/communication_cell.hpp"

namespace filch::detail::deque {
namespace {

// The lowest bits of the word.
enum kind : std::uint64_t { busy = 0, waiting = 1, incoming = 2, dealt = 3, kind_mask = 3 };
constexpr unsigned number_shift = 2;
constexpr unsigned rest_shift = number_shift + 16;

std::uint64_t pack(wait_filter wanted) noexcept {
  return waiting | (std::uint64_t{wanted.of} << number_shift) | (wanted.id << rest_shift);
}

std::uint64_t pack(deal what) noexcept {
  return dealt | (std::uint64_t{what.dealer} << number_shift) | (what.tasks.pack() << rest_shift);
}

std::uint16_t number_in(std::uint64_t word) noexcept { return static_cast<std::uint16_t>(word >> number_shift); }

deal unpack_deal(std::uint64_t word) noexcept {
  return {.dealer = number_in(word), .tasks = slot_range::unpack(word >> rest_shift)};
}

}  // namespace

void communication_cell::wait(wait_filter wanted, std::uint32_t room) noexcept {
  room_.store(room);
  // [CC1] seq_cst: before the look whether the owners' attention words are raised ([AT2]); pairs with [CC2]. Releases
  // the room, for [CC3], and that the worker is about to sleep, for [CC3] and [CC4].
  word_.store(pack(wanted), std::memory_order_seq_cst);
}

bool communication_cell::is_waiting() const noexcept {
  return (word_.load(std::memory_order_relaxed) & kind_mask) == waiting;  // the worker's own, until somebody deals
}

bool communication_cell::is_busy() const noexcept {
  // [CC10] acquire: that a dealer which took its deal back has read the room, from [CC5]. Else busy is the worker's
  // own.
  return word_.load(std::memory_order_acquire) == busy;
}

bool communication_cell::cease() noexcept {
  std::uint64_t word = word_.load(std::memory_order_relaxed);  // the compare-and-swap decides
  // [CC7] relaxed: that it is one of worker and dealer who ends the wait follows from the word alone. Repeated where a
  // dealer gave up in between.
  while ((word & kind_mask) == waiting) {
    if (word_.compare_exchange_weak(word, busy, std::memory_order_relaxed, std::memory_order_relaxed)) return true;
  }
  return false;
}

std::optional<deal> communication_cell::collect() noexcept {
  std::uint64_t word = word_.load(std::memory_order_relaxed);  // the compare-and-swap decides
  if ((word & kind_mask) != dealt) return std::nullopt;
  // [CC6] acquire: the tasks, from [CC4] or [CC5].
  if (!word_.compare_exchange_strong(word, busy, std::memory_order_acquire, std::memory_order_relaxed)) {
    return std::nullopt;
  }
  return unpack_deal(word);
}

std::optional<communication_cell::view> communication_cell::look() const noexcept {
  // [CC2] seq_cst: after the owner, about to sleep, has calmed its attention word ([AT3]); pairs with [CC1].
  const std::uint64_t word = word_.load(std::memory_order_seq_cst);
  if ((word & kind_mask) != waiting) return std::nullopt;
  return view{.word = word, .wanted = {.of = number_in(word), .id = word >> rest_shift}};
}

bool communication_cell::put(const view& seen, deal what) noexcept {
  std::uint64_t expected = seen.word;
  // [CC4] acq_rel: releases the slot and the ends of activations ([AC2]), for [CC6]; acquires whether the worker
  // sleeps.
  return word_.compare_exchange_strong(expected, pack(what), std::memory_order_acq_rel, std::memory_order_relaxed);
}

bool communication_cell::reserve(const view& seen) noexcept {
  std::uint64_t expected = seen.word;
  // [CC3] acquire: the room, and whether the worker sleeps, from [CC1].
  return word_.compare_exchange_strong(expected, incoming, std::memory_order_acquire, std::memory_order_relaxed);
}

void communication_cell::fill(deal what) noexcept {
  // [CC5] release: the slots, and the ends of activations ([AC2]), for [CC6].
  word_.store(pack(what), std::memory_order_release);
}

void communication_cell::give_up(const view& seen) noexcept {
  // [CC8] release: hands on what [CC3] acquired, for the next dealer.
  word_.store(seen.word, std::memory_order_release);
}

std::optional<deal> communication_cell::uncollected() const noexcept {
  const std::uint64_t word = word_.load(std::memory_order_relaxed);  // a hint; take_back decides
  if ((word & kind_mask) != dealt) return std::nullopt;
  return unpack_deal(word);
}

bool communication_cell::take_back(deal what) noexcept {
  std::uint64_t expected = pack(what);
  // [CC9] relaxed: the tasks are the dealer's own work; that one of the two has them follows from the word alone. As a
  // read-modify-write it continues the release sequence of [CC5], for [CC10].
  return word_.compare_exchange_strong(expected, busy, std::memory_order_relaxed, std::memory_order_relaxed);
}

}  // namespace filch::detail::deque
