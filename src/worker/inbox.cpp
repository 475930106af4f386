#include "worker/inbox.hpp"

#include <mutex>

#include "worker/piece_pool.hpp"

namespace filch::detail {
namespace {

/// Says in the task's state who has taken it. It is out of the inbox.
given_task* begin(given_task* g, std::uint64_t taken) noexcept {
  if (g == nullptr) return nullptr;
  // The giver may mark that it sleeps until the task is done, meanwhile ([TS4]).
  std::uint64_t before = g->record.state.load(std::memory_order_relaxed);
  std::uint64_t after = 0;
  do {
    task_state state = task_state::unpack(taken);
    state.waiting = task_state::unpack(before).waiting;
    after = state.pack();
    // [IB3] release: the activation's entry, as [TS1].
  } while (!g->record.state.compare_exchange_weak(before, after, std::memory_order_release, std::memory_order_relaxed));
  return g;
}

}  // namespace

bool given_cell::put(given_task& g) noexcept {
  std::byte* none = nullptr;
  // [IB1] seq_cst: before the look for its owner's sleep ([SL1]); pairs with [IB2]. And release: the task, to [IB5].
  return task_.compare_exchange_strong(none, address(g), std::memory_order_seq_cst, std::memory_order_relaxed);
}

given_task* given_cell::take(given_taker by) noexcept {
  std::byte* seen = task_.load(std::memory_order_relaxed);
  if (!may_take(seen, by)) return nullptr;
  // [IB5] acquire: the task, from [IB1]. What was there before may have been given again meanwhile, from the same memory: it
  // is the new one then.
  if (!task_.compare_exchange_strong(seen, nullptr, std::memory_order_acquire, std::memory_order_relaxed))
    return nullptr;
  return reinterpret_cast<given_task*>(seen - bits_of(seen));
}

bool given_cell::take_back(given_task& g) noexcept {
  std::byte* expected = address(g);
  return task_.load(std::memory_order_relaxed) == expected &&
         task_.compare_exchange_strong(expected, nullptr, std::memory_order_relaxed, std::memory_order_relaxed);
}

void inbox::put(given_task& g, bool alone) noexcept {
  if (alone ? root_.put(g) : queued_.load(std::memory_order_relaxed) == queued::nothing && first_.put(g)) return;
  const std::lock_guard lock(mutex_);
  g.in_queue = true;
  // What was stolen may be divided out of turn.
  g.previous = newest_;
  (newest_ != nullptr ? newest_->next : oldest_) = &g;
  newest_ = &g;
  if (g.in_waits) ++in_waits_;
  queued_.store(in_waits_ != 0 ? queued::in_waits : queued::not_in_waits, std::memory_order_seq_cst);  // [IB1]
  note_what_is_left();
}

void inbox::tell(steal_range& active) noexcept {
  steal_range_ref before(&active);
  const std::lock_guard lock(mutex_);
  told_ = std::move(before);
  is_told_.store(true, std::memory_order_seq_cst);  // [IB1]
}

steal_range_ref inbox::told() noexcept {
  if (!is_told_.load(std::memory_order_relaxed)) return {};
  const std::lock_guard lock(mutex_);
  is_told_.store(false, std::memory_order_relaxed);
  return std::move(told_);
}

void inbox::note_what_is_left() noexcept {
  shows_.store(oldest_ != nullptr && !oldest_->stays, std::memory_order_relaxed);
  // Under the lock, as what says that there is something.
  if (oldest_ == nullptr) {
    queued_.store(queued::nothing, std::memory_order_relaxed);
  } else if (in_waits_ == 0 && queued_.load(std::memory_order_relaxed) == queued::in_waits) {
    queued_.store(queued::not_in_waits, std::memory_order_relaxed);
  }
}

void inbox::unlink(given_task& g) noexcept {
  g.in_queue = false;
  if (g.in_waits) --in_waits_;
  (g.previous != nullptr ? g.previous->next : oldest_) = g.next;
  (g.next != nullptr ? g.next->previous : newest_) = g.previous;
  note_what_is_left();
}

// Of the queue. Null: there is none that fits.
template <class Fits>
given_task* inbox::take_oldest(Fits fits) noexcept {
  const std::lock_guard lock(mutex_);
  given_task* g = oldest_;
  while (g != nullptr && !fits(*g)) g = g->next;
  if (g != nullptr) unlink(*g);
  return g;
}

given_task* inbox::take(std::uint64_t taken) noexcept {
  if (given_task* const g = root_.take(given_taker::idle)) return begin(g, taken);
  if (given_task* const g = first_.take(given_taker::idle)) return begin(g, taken);
  if (queued_.load(std::memory_order_relaxed) == queued::nothing) return nullptr;
  return begin(take_oldest([](const given_task& /*any*/) { return true; }), taken);
}

given_task* inbox::take_in_wait(std::uint64_t taken) noexcept {
  if (given_task* const g = root_.take(given_taker::waiter)) return begin(g, taken);
  if (given_task* const g = first_.take(given_taker::waiter)) return begin(g, taken);
  if (queued_.load(std::memory_order_relaxed) != queued::in_waits) return nullptr;
  return begin(take_oldest([](const given_task& g) { return g.in_waits; }), taken);
}

given_task* inbox::steal(std::uint64_t taken) noexcept {
  if (given_task* const g = first_.take(given_taker::thief)) return begin(g, taken);
  if (!shows_.load(std::memory_order_relaxed)) return nullptr;
  return begin(take_oldest([](const given_task& g) { return !g.stays; }), taken);
}

bool inbox::take_back(given_task& g) noexcept {
  if (root_.take_back(g) || first_.take_back(g)) return true;
  const std::lock_guard lock(mutex_);
  if (!g.in_queue) return false;
  unlink(g);
  return true;
}

}  // namespace filch::detail
