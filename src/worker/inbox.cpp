#include "worker/inbox.hpp"

#include <mutex>

#include "worker/piece_pool.hpp"

namespace filch::detail {

void inbox::put(given_task& g, bool alone) noexcept {
  const std::lock_guard lock(mutex_);
  g.in_box = true;
  // Mostly there is one at most (Theorem 2), but what was stolen may be divided out of turn.
  if (alone && root_ == nullptr) {
    root_ = &g;
  } else {
    g.previous = last_;
    (last_ != nullptr ? last_->next : first_) = &g;
    last_ = &g;
  }
  // [IB1] seq_cst: before the look for its sleep ([SL1]); pairs with [IB2].
  filled_.store(true, std::memory_order_seq_cst);
  shows_.store(first_ != nullptr && !first_->stays, std::memory_order_relaxed);
}

void inbox::tell(steal_range& active) noexcept {
  steal_range_ref before(&active);
  const std::lock_guard lock(mutex_);
  told_ = std::move(before);
  filled_.store(true, std::memory_order_seq_cst);  // [IB1]
}

steal_range_ref inbox::told() noexcept {
  if (!is_filled()) return {};
  const std::lock_guard lock(mutex_);
  steal_range_ref last = std::move(told_);
  note_what_is_left();
  return last;
}

void inbox::note_what_is_left() noexcept {
  shows_.store(first_ != nullptr && !first_->stays, std::memory_order_relaxed);
  // Under the lock, as what makes it true.
  if (root_ == nullptr && first_ == nullptr && !told_) filled_.store(false, std::memory_order_relaxed);
}

void inbox::unlink(given_task& g) noexcept {
  g.in_box = false;
  if (root_ == &g) {
    root_ = nullptr;
  } else {
    (g.previous != nullptr ? g.previous->next : first_) = g.next;
    (g.next != nullptr ? g.next->previous : last_) = g.previous;
  }
  note_what_is_left();
}

given_task* inbox::take(std::uint64_t taken) noexcept {
  const std::lock_guard lock(mutex_);
  return take_out(root_ != nullptr ? root_ : first_, taken);
}

given_task* inbox::steal(std::uint64_t taken) noexcept {
  const std::lock_guard lock(mutex_);
  given_task* g = first_;
  while (g != nullptr && g->stays) g = g->next;
  return take_out(g, taken);
}

given_task* inbox::take_out(given_task* g, std::uint64_t taken) noexcept {
  if (g == nullptr) return nullptr;
  unlink(*g);
  // The giver may mark that it sleeps until the task is done, meanwhile ([TS4]).
  std::uint64_t before = g->record.state.load(std::memory_order_relaxed);
  std::uint64_t after = 0;
  do {
    task_state state = task_state::unpack(taken);
    state.waiting = task_state::unpack(before).waiting;
    after = state.pack();
    // [IB3] release: the activation's entry, as [TS1]. No exploration catches this: a waiter that does not find the entry
    // does not help, and waits for the task all the same.
  } while (!g->record.state.compare_exchange_weak(before, after, std::memory_order_release, std::memory_order_relaxed));
  return g;
}

bool inbox::take_back(given_task& g) noexcept {
  const std::lock_guard lock(mutex_);
  if (!g.in_box) return false;
  unlink(g);
  return true;
}

}  // namespace filch::detail
