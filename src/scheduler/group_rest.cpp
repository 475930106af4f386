#include "scheduler/group_rest.hpp"

#include <mutex>
#include <new>
#include <utility>

namespace filch::detail {
namespace {

/// There are 2^31 numbers.
constexpr std::uint64_t many_spawned = std::uint64_t{1} << 30;

}  // namespace

group_rest::~group_rest() {
  // [DG4] relaxed: all who have made lanes have ended their tasks, or handed them to who has ([DG1]).
  for (detached_lane* lane = lanes_.load(std::memory_order_relaxed); lane != &own_lane_;) {
    delete std::exchange(lane, lane->next);
  }
}

void group_rest::record(std::uint64_t order) noexcept {
  const std::lock_guard lock(error_mutex_);
  if (error_ != nullptr && error_order_ < order) return;
  error_ = std::current_exception();
  error_order_ = order;
}

void group_rest::rethrow() {
  if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
}

group_rest::counts group_rest::add_task() noexcept {
  // [DG2] release: the lane that has been filled, for a waiter that comes later ([DG3]). Acquire: what a waiter has
  // said that came before, for its waker. No exploration catches this: a waiter's last look would have to miss what was
  // there before its last pause, after which explorations show it everything.
  return counts(word_.fetch_add(one_spawned + 1, std::memory_order_acq_rel));
}

group_rest::counts group_rest::moved() noexcept {
  return counts(word_.fetch_add(0, std::memory_order_acq_rel));
}  // [DG2]

group_rest::counts group_rest::end_tasks(std::uint64_t count) noexcept {
  // [DG1] release: what the tasks did, for whoever sees that none is left; the last touch of the group. Acquire: as
  // [DG2].
  return counts(word_.fetch_sub(count, std::memory_order_acq_rel));
}

bool group_rest::is_over() const noexcept {
  return counts(word_.load(std::memory_order_acquire)).pending == 0;  // [DG1]
}

group_rest::counts group_rest::watch() noexcept {
  std::uint64_t seen = word_.load(std::memory_order_relaxed);
  // [DG3] release: which group this worker waits for ([DB6]), for its waker. Acquire: the lanes that are filled. No
  // exploration catches this: as [DG2].
  while (!word_.compare_exchange_weak(seen, seen | watched_bit, std::memory_order_acq_rel, std::memory_order_relaxed)) {
  }
  return counts(seen);
}

void group_rest::unwatch() noexcept {
  std::uint64_t seen = word_.load(std::memory_order_relaxed);
  // [DG3] acquire: who waits. Release, since it goes on from here: what [DG2] and [DG3] have released.
  while (
      !word_.compare_exchange_weak(seen, seen & ~watched_bit, std::memory_order_acq_rel, std::memory_order_relaxed)) {
  }
}

void group_rest::begin_anew() noexcept {
  std::uint64_t seen = word_.load(std::memory_order_relaxed);
  // [DG5] relaxed: nothing is left that the word has published. Fails if somebody adds a task.
  if (const counts now(seen); now.pending == 0 && now.spawned > many_spawned) {
    word_.compare_exchange_strong(seen, 0, std::memory_order_relaxed, std::memory_order_relaxed);
  }
}

detached_lane* group_rest::first_lane() const noexcept {
  return lanes_.load(std::memory_order_acquire);  // [DG4] the lane, from who has made it
}

detached_lane* group_rest::find_lane(const detached_queue& in) noexcept {
  detached_lane* lane = first_lane();
  while (lane != nullptr && &lane->queue != &in) lane = lane->next;
  return lane;
}

detached_lane* group_rest::make_lane(detached_queue& in) noexcept {
  auto* const made = new (std::nothrow) detached_lane(*this, in);
  if (made == nullptr) return nullptr;
  made->next = first_lane();
  // [DG4] release: the lane. Acquire, when it fails as well: the other lanes, which it goes through itself later. No
  // exploration catches this: it needs three threads that make lanes of one group at the same time.
  while (!lanes_.compare_exchange_weak(made->next, made, std::memory_order_acq_rel, std::memory_order_acquire)) {
  }
  return made;
}

}  // namespace filch::detail
