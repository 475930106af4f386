#include "worker/detached_queue.hpp"

#include "platform/clock.hpp"
#include "platform/thread.hpp"

namespace filch::detail {

bool detached_queue::try_enter() noexcept {
  std::uint64_t seen = word_.load(std::memory_order_relaxed);
  // [DQ2] acquire: what is in here, from who left last.
  return (seen & inside) == 0 &&
         word_.compare_exchange_strong(seen, seen | inside, std::memory_order_acquire, std::memory_order_relaxed);
}

void detached_queue::enter() noexcept {
  constexpr unsigned pauses = 64;  // longer than anybody stays, unless the system has stopped it
  for (unsigned turn = 0; !try_enter(); ++turn) {
    if (turn < pauses) {
      platform::pause();
    } else {
      platform::yield();
    }
  }
}

bool detached_queue::leave() noexcept {
  // Who is inside is the only one who writes.
  const bool was_empty = word_.load(std::memory_order_relaxed) < one_task;
  if (was_empty && size_ != 0) {
    word_.store(size_ * one_task, std::memory_order_seq_cst);  // [DQ1] before the look for sleepers [SL1]
    return true;
  }
  word_.store(size_ * one_task, std::memory_order_release);  // [DQ2]
  return false;
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
    to.filled.store(true, std::memory_order_relaxed);  // [DG2] publishes it
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
  emptied.filled.store(false, std::memory_order_release);  // [DQ3]
}

}  // namespace filch::detail
