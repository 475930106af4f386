#include "deque/transfer_cell.hpp"

namespace filch::detail::deque {
namespace {

constexpr std::uint64_t awaited = 0;
constexpr std::uint64_t declined = 1;
constexpr std::uint64_t handed_over = 2;
constexpr unsigned tasks_shift = 2;

}  // namespace

void transfer_cell::expect(std::uint32_t room) noexcept {
  room_.store(room);
  word_.store(awaited, std::memory_order_relaxed);  // [TR1] relaxed: released with the request ([RQ2])
}

transfer_cell::answer transfer_cell::read() const noexcept {
  // [TR3] acquire: the tasks, from [TR2].
  const std::uint64_t word = word_.load(std::memory_order_acquire);
  if (word == awaited) return {.what = outcome::awaited, .tasks = {}};
  if (word == declined) return {.what = outcome::declined, .tasks = {}};
  return {.what = outcome::handed_over, .tasks = slot_range::unpack(word >> tasks_shift)};
}

void transfer_cell::hand_over(slot_range tasks) noexcept {
  // [TR2] release: the slots, and the ends of activations ([AC2]), for [TR3].
  word_.store(handed_over | (tasks.pack() << tasks_shift), std::memory_order_release);
}

void transfer_cell::decline() noexcept {
  word_.store(declined, std::memory_order_relaxed);  // [TR4] relaxed: nothing comes with it
}

}  // namespace filch::detail::deque
