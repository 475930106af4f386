#include <algorithm>

#include <filch/detail/task_counts.hpp>

#include "worker/team.hpp"
#include "worker/worker.hpp"

namespace filch::detail {

task_counts::task_counts(worker_core& of)
    : caller(of), size_(static_cast<worker&>(of).common.team.size() + 1), places_(std::make_unique<place[]>(size_)) {
  count_made(of);
}

task_counts::place& task_counts::place_of(const worker_core& w) const noexcept {
  return places_[std::min<std::uint32_t>(static_cast<const worker&>(w).number, size_ - 1)];
}

void task_counts::count_made(const worker_core& by) noexcept {
  // [CT1] relaxed: released with the task itself ([PP1]), to whoever counts its end.
  place_of(by).made.fetch_add(1, std::memory_order_relaxed);
}

void task_counts::count_ended(const worker_core& by, std::uint64_t tasks) noexcept {
  auto& waiting = static_cast<worker&>(caller);
  // [CT2] seq_cst: releases what the tasks did, and made, for [CT3]; and before the look whether the caller sleeps,
  // which looks at the counts after it has said so ([AT4]): one of the two sees the other.
  place_of(by).ended.fetch_add(tasks, std::memory_order_seq_cst);
  // The call may be over. Its caller's worker lasts.
  if (waiting.wait.dozing.load(std::memory_order_seq_cst)) waiting.parker.unpark();  // [AT4]
}

bool task_counts::all_ended() const noexcept {
  std::uint64_t ended = 0;
  // [CT3] seq_cst: pairs with [CT2].
  for (std::uint32_t i = 0; i < size_; ++i) ended += places_[i].ended.load(std::memory_order_seq_cst);
  // After that: who counted an end that is in the sum had seen all that the task made.
  std::uint64_t made = 0;
  for (std::uint32_t i = 0; i < size_; ++i) made += places_[i].made.load(std::memory_order_relaxed);  // [CT1]
  return ended == made;
}

std::uint64_t task_counts::enter(const worker_core& by, std::uint64_t activation) noexcept {
  // [CT4] relaxed: a hint where to look for work. Whether the activation lasts, its worker's list says.
  auto& mine = place_of(by).activation;
  const std::uint64_t before = mine.load(std::memory_order_relaxed);
  mine.store(activation, std::memory_order_relaxed);  // [CT4]
  return before;
}

}  // namespace filch::detail
