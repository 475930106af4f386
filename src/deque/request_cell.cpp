#include "deque/request_cell.hpp"

namespace filch::detail::deque {
namespace {

constexpr std::uint64_t closed = 0;
constexpr std::uint64_t open_bit = 1;
constexpr std::uint64_t asked_bit = 2;
constexpr unsigned thief_shift = 2;
constexpr unsigned id_shift = thief_shift + 16;

std::uint64_t pack(request r) noexcept {
  return asked_bit | (std::uint64_t{r.thief} << thief_shift) | (r.id << id_shift);
}

request unpack(std::uint64_t word) noexcept {
  return {.thief = static_cast<std::uint16_t>(word >> thief_shift), .id = word >> id_shift};
}

}  // namespace

bool request_cell::is_open() const noexcept {
  // [RQ1] seq_cst: a worker about to sleep must see every cell that was opened by an owner which did not see it fall
  // asleep ([SL3]); pairs with [RQ6].
  return word_.load(std::memory_order_seq_cst) == open_bit;
}

bool request_cell::put(request r) noexcept {
  std::uint64_t expected = open_bit;
  // [RQ2] seq_cst: before the look at the owner's attention word ([AT2]); pairs with [RQ3]. Releases the emptied
  // transfer cell, for [RQ4]. No exploration catches this as acq_rel: a thief whose request is overlooked withdraws it
  // and asks again before it sleeps; for the owner to keep its word calm it has to overlook the withdrawal as well.
  return word_.compare_exchange_strong(expected, pack(r), std::memory_order_seq_cst, std::memory_order_relaxed);
}

bool request_cell::withdraw(request r) noexcept {
  std::uint64_t expected = pack(r);
  // [RQ5] relaxed: that it is one of owner and thief who ends the request follows from the word alone.
  return word_.compare_exchange_strong(expected, closed, std::memory_order_relaxed, std::memory_order_relaxed);
}

request_cell::state request_cell::look() const noexcept {
  // [RQ3] seq_cst: after the owner has calmed its attention word ([AT3]); pairs with [RQ2]: either the request is seen
  // here, or its thief sees the word calm and raises it.
  const std::uint64_t word = word_.load(std::memory_order_seq_cst);
  return word == closed ? state::closed : word == open_bit ? state::open : state::asked;
}

std::optional<request> request_cell::claim() noexcept {
  std::uint64_t word = word_.load(std::memory_order_relaxed);  // the compare-and-swap decides
  if ((word & asked_bit) == 0) return std::nullopt;
  const request r = unpack(word);
  // [RQ4] acquire: the thief's emptied transfer cell, which the answer must come after, from [RQ2].
  if (!word_.compare_exchange_strong(word, closed, std::memory_order_acquire, std::memory_order_relaxed)) {
    return std::nullopt;
  }
  return r;
}

void request_cell::open() noexcept {
  // [RQ6] seq_cst: before the look for sleepers ([SL1]) in the one total order; pairs with [RQ1].
  word_.store(open_bit, std::memory_order_seq_cst);
}

bool request_cell::close() noexcept {
  std::uint64_t expected = open_bit;
  // [RQ7] relaxed: publishes nothing. Where the cell was closed already, nothing is to be done.
  return word_.compare_exchange_strong(expected, closed, std::memory_order_relaxed, std::memory_order_relaxed) ||
         expected == closed;
}

}  // namespace filch::detail::deque
