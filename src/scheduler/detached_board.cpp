#include "scheduler/detached_board.hpp"

#include <array>
#include <cstddef>
#include <mutex>

#include "policy/policy.hpp"
#include "scheduler/joining.hpp"
#include "worker/interrupter.hpp"
#include "worker/patience.hpp"
#include "worker/sleepers.hpp"
#include "worker/worker.hpp"

namespace filch::detail {
namespace {

/// In the spawn order, detached tasks come after those on the stack.
constexpr std::uint64_t first_detached = std::uint64_t{1} << 40;

}  // namespace

void detached_board::push(group_rest& group, detached_task& t) noexcept {
  const busy_section here(*self);
  {
    const std::lock_guard lock(mutex_);
    t.home = &group;
    if (t.order == detached_task::last) t.order = first_detached + group.spawned++;
    t.next = nullptr;
    t.state.store(task_state{}.pack(), std::memory_order_relaxed);  // under the lock
    if (group.queue_first == nullptr) {
      group.queue_first = &t;
      group.next_ready = nullptr;
      (ready_first_ == nullptr ? ready_first_ : ready_last_->next_ready) = &group;
      ready_last_ = &group;
    } else {
      group.queue_last->next = &t;
    }
    group.queue_last = &t;
    // [DB2] relaxed: written under the lock.
    group.pending.store(group.pending.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    // [DB1] seq_cst: before the look for sleepers [SL1].
    queued_.store(queued_.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
    if (group.waiters != nullptr) group.waiters->w->parker.unpark();
  }
  idle_.offered();
}

void detached_board::forget_ready(const group_rest& group) noexcept {
  group_rest* before = nullptr;
  for (group_rest* g = ready_first_; g != &group; g = g->next_ready) before = g;
  (before == nullptr ? ready_first_ : before->next_ready) = group.next_ready;
  if (ready_last_ == &group) ready_last_ = before;
}

detached_task* detached_board::pop(group_rest& group) noexcept {
  detached_task* const t = group.queue_first;
  group.queue_first = t->next;
  if (group.queue_first == nullptr) {
    group.queue_last = nullptr;
    forget_ready(group);
  }
  queued_.store(queued_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);  // under the lock
  t->previous = nullptr;
  t->next = group.taken;
  if (group.taken != nullptr) group.taken->previous = t;
  group.taken = t;
  return t;
}

detached_task* detached_board::pop_any() noexcept {
  if (!has_work()) return nullptr;
  const std::lock_guard lock(mutex_);
  return ready_first_ == nullptr ? nullptr : pop(*ready_first_);
}

void detached_board::end(detached_task& t) noexcept {
  const busy_section here(*self);
  const std::lock_guard lock(mutex_);
  group_rest& group = *t.home;
  (t.previous == nullptr ? group.taken : t.previous->next) = t.next;
  if (t.next != nullptr) t.next->previous = t.previous;
  const std::uint64_t left = group.pending.load(std::memory_order_relaxed) - 1;
  if (left == 0) {
    // Still under the lock, which a sleeping waiter needs before it can return.
    for (const group_waiter* waiter = group.waiters; waiter != nullptr; waiter = waiter->next) {
      waiter->w->parker.unpark();
    }
  }
  // [DB3] release: what the tasks did, for whoever sees 0 ([DB4]); the last touch of the group, which may end now.
  group.pending.store(left, std::memory_order_release);
}

bool detached_board::help_taken(worker& w, group_rest& group) noexcept {
  std::array<lineage, 8> running{};
  std::size_t n = 0;
  {
    const std::lock_guard lock(mutex_);
    for (const detached_task* t = group.taken; t != nullptr && n < running.size(); t = t->next) {
      // [DB5] relaxed: the task has not ended, so this is the activation meant; should its entry not be visible yet,
      // there is no help this time.
      const auto state = task_state::unpack(t->state.load(std::memory_order_relaxed));
      if (state.status == task_status::taken) running[n++] = {state.thief, state.epoch};
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (w.rules.help(w, running[i], nullptr)) return true;
  }
  return false;
}

void detached_board::sleep(worker& w, group_rest& group) noexcept {
  group_waiter here{&w, nullptr};
  std::unique_lock lock(mutex_);
  if (group.pending.load(std::memory_order_relaxed) == 0 || group.queue_first != nullptr) return;
  here.next = group.waiters;
  group.waiters = &here;
  lock.unlock();
  // What a taken task offers meanwhile is not waited for: its owner or an idle worker will run it.
  doze(w, interrupter::never);
  lock.lock();
  group_waiter** link = &group.waiters;
  while (*link != &here) link = &(*link)->next;
  *link = here.next;
}

void detached_board::wait(group_rest& group) {
  // [DB4] acquire: what the tasks did, from [DB3].
  if (group.pending.load(std::memory_order_acquire) == 0) return;
  home_.run([&] { wait_as(static_cast<worker&>(*self), group); });
}

void detached_board::wait_as(worker& w, group_rest& group) noexcept {
  const busy_section here(w);
  patience spinning = patience::of_searches();
  while (group.pending.load(std::memory_order_acquire) != 0) {  // [DB4]
    detached_task* t = nullptr;
    if (w.activations.has_room()) {
      const std::lock_guard lock(mutex_);
      if (group.queue_first != nullptr) t = pop(group);
    }
    if (t != nullptr) {
      w.occupied();
      w.run_taken(*t, nullptr);
      spinning.begin();
      continue;
    }
    w.waits_for.begin();
    if (help_taken(w, group)) {
      spinning.begin();
      continue;
    }
    if (w.must_attend(w.head.load())) attend(w);
    if (spinning.go_on()) continue;
    sleep(w, group);
    spinning.begin();
  }
  w.occupied();
}

}  // namespace filch::detail
