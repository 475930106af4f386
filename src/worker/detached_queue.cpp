#include "worker/detached_queue.hpp"

#include <filch/platform/ticks.hpp>

#include "platform/backoff.hpp"

namespace filch::detail {

namespace {

/// A few us: between two visits.
std::uint64_t ticks_of_turn() noexcept { return platform::ticks_of_some_us() / 2; }

}  // namespace

void detached_queue::put_off_visits() noexcept {
  next_visit_.store(platform::ticks() + platform::ticks_of_a_theft(), std::memory_order_relaxed);  // [DQ4]
}

bool detached_queue::may_visit() noexcept {
  if (!may_have_tasks()) return false;
  const std::uint64_t pause = ticks_of_turn();
  const std::uint64_t now = platform::ticks();
  std::uint64_t next = next_visit_.load(std::memory_order_relaxed);
  // Processors whose clocks differ by more do not wait for each other.
  if (next - now <= pause) return false;
  // [DQ4] relaxed: a turn; what is in the queue comes with [DQ2].
  return next_visit_.compare_exchange_strong(next, now + pause, std::memory_order_relaxed, std::memory_order_relaxed);
}

std::uint64_t detached_queue::rest_left() const noexcept {
  if (!may_have_tasks()) return 0;
  const std::uint64_t left = next_visit_.load(std::memory_order_relaxed) - platform::ticks();
  return left <= platform::ticks_of_a_theft() ? left : 0;
}

bool detached_queue::try_enter() noexcept {
  bool inside = inside_.load(std::memory_order_relaxed);
  // [DQ2] acquire: what is in here, from who left last.
  return !inside && inside_.compare_exchange_strong(inside, true, std::memory_order_acquire, std::memory_order_relaxed);
}

void detached_queue::enter() noexcept {
  for (platform::backoff visitor; !try_enter();) visitor.wait();
}

bool detached_queue::leave() noexcept {
  const bool was_filled = told_;
  const bool filled = size_ != 0;
  told_ = filled;
  if (filled && !was_filled) {
    filled_.store(true, std::memory_order_seq_cst);  // [DQ1] before the look for sleepers [SL1]
  } else if (!filled && was_filled) {
    filled_.store(false, std::memory_order_relaxed);  // who is told too late looks in vain
  }
  inside_.store(false, std::memory_order_release);  // [DQ2]
  return filled && !was_filled;
}

bool detached_queue::add(detached_lane& to, row tasks) noexcept {
  tasks.oldest->previous = to.newest;
  tasks.newest->next = nullptr;
  const bool was_empty = to.newest == nullptr;
  if (was_empty) {
    to.oldest = tasks.oldest;
    to.older = newest_;
    to.newer = nullptr;
    (newest_ == nullptr ? oldest_ : newest_->newer) = &to;
    newest_ = &to;
    // [DQ3] seq_cst: before the look for waiters, [DG3]. No exploration catches this: as there.
    to.filled.store(true, std::memory_order_seq_cst);
  } else {
    to.newest->next = tasks.oldest;
  }
  to.newest = tasks.newest;
  to.size += tasks.size;
  size_ += tasks.size;
  return was_empty;
}

detached_task* detached_queue::take_newest(detached_lane& from) noexcept {
  detached_task* const t = from.newest;
  from.newest = t->previous;
  --from.size;
  --size_;
  if (from.newest == nullptr) {
    unlink(from);
  } else {
    from.newest->next = nullptr;
  }
  return t;
}

detached_queue::row detached_queue::take_oldest(detached_lane& from, std::size_t count) noexcept {
  row taken{from.oldest, from.oldest, count};
  for (std::size_t i = 1; i < count; ++i) taken.newest = taken.newest->next;
  from.oldest = taken.newest->next;
  from.size -= count;
  size_ -= count;
  if (from.oldest == nullptr) {
    from.newest = nullptr;
    unlink(from);
  } else {
    from.oldest->previous = nullptr;
  }
  return taken;
}

void detached_queue::unlink(detached_lane& emptied) noexcept {
  emptied.oldest = nullptr;
  (emptied.older == nullptr ? oldest_ : emptied.older->newer) = emptied.newer;
  (emptied.newer == nullptr ? newest_ : emptied.newer->older) = emptied.older;
  // [DQ3] release: by who has taken its last task: that worker's activation comes first ([AC1]). Pairs with the load of
  // a waiter. No exploration catches this: a waiter that sees neither the task nor who runs it asks nobody to share.
  emptied.filled.store(false, std::memory_order_release);
}

}  // namespace filch::detail
