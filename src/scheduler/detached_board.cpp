#include "scheduler/detached_board.hpp"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <utility>

#include "policy/policy.hpp"
#include "scheduler/joining.hpp"
#include "worker/interrupter.hpp"
#include "worker/patience.hpp"
#include "worker/sleepers.hpp"
#include "worker/team.hpp"
#include "worker/worker.hpp"

namespace filch::detail {
namespace {

/// In the spawn order, detached tasks come after those on the stack.
constexpr std::uint64_t first_detached = std::uint64_t{1} << 40;

/// Of those that run, so many are asked in one search for help. With `sender` each may take 20 us.
constexpr std::size_t most_asked = 8;

void wake_waiters(const group_rest& group) noexcept {
  for (const group_waiter* waiter = group.waiters; waiter != nullptr; waiter = waiter->next) waiter->w->parker.unpark();
}

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
    wake_waiters(group);
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
    wake_waiters(group);  // still under the lock, which a sleeping waiter needs before it can return
  }
  // [DB3] release: what the tasks did, for whoever sees 0 ([DB4]); the last touch of the group, which may end now.
  group.pending.store(left, std::memory_order_release);
}

detached_board::taken_tasks detached_board::taken_of(const group_rest& group, const worker& by) noexcept {
  taken_tasks all;
  for (const detached_task* t = group.taken; t != nullptr && all.count < all.running.size(); t = t->next) {
    // [DB5] relaxed: the task has not ended, so this is the activation meant; should its entry not be visible yet,
    // there is no help this time.
    const auto state = task_state::unpack(t->state.load(std::memory_order_relaxed));
    if (state.status != task_status::taken) {
      all.beginning = true;
    } else if (state.thief != by.number) {
      all.running[all.count++] = {state.thief, state.epoch};
    }
  }
  return all;
}

bool detached_board::help_taken(worker& w, group_rest& group) noexcept {
  std::unique_lock lock(mutex_);
  const taken_tasks taken = taken_of(group, w);
  lock.unlock();
  const std::size_t first = taken.count > most_asked ? w.random() % taken.count : 0;
  for (std::size_t i = 0; i < std::min(taken.count, most_asked); ++i) {
    if (w.rules.help(w, taken.running[(first + i) % taken.count], nullptr)) return true;
  }
  return false;
}

void detached_board::sleep(worker& w, group_rest& group) noexcept {
  group_waiter here{&w, nullptr};
  std::unique_lock lock(mutex_);
  const taken_tasks taken = taken_of(group, w);
  if (group.pending.load(std::memory_order_relaxed) == 0 || group.queue_first != nullptr) return;
  if (taken.beginning) {
    lock.unlock();
    return platform::yield();  // somebody is about to say that it runs the task
  }
  // From now on it is woken for tasks that come; so who runs something of the group is known.
  here.next = group.waiters;
  group.waiters = &here;
  lock.unlock();
  doze_for(w, taken);
  lock.lock();
  group_waiter** link = &group.waiters;
  while (*link != &here) link = &(*link)->next;
  *link = here.next;
  lock.unlock();
  if (taken.count != 0) w.rules.collect_help(w, taken.running.front(), nullptr);
}

void detached_board::doze_for(worker& w, const taken_tasks& taken) noexcept {
  const auto owner = [&](lineage task) -> worker& { return w.everybody[task.thief]; };
  bool interrupted = false;
  for (const lineage task : taken) {
    if (w.interrupts.interrupt_if_due(owner(task))) interrupted = true;
  }
  if (interrupted) return;
  doze_unless(
      w,
      [&] {
        w.idle.begin_wait();
        // A policy that brings help brings it for one task.
        if (taken.count != 0) w.rules.await_help(w, taken.running.front());
        return std::any_of(taken.begin(), taken.end(), [&](lineage task) { return w.rules.help_visible(w, task); });
      },
      [&] {
        std::int64_t first_ns = interrupter::never;
        for (const lineage task : taken) first_ns = std::min(first_ns, w.interrupts.due(owner(task)));
        return first_ns;
      });
  w.idle.end_wait();
}

void detached_board::wait(group_rest& group) {
  // [DB4] acquire: what the tasks did, from [DB3].
  if (group.pending.load(std::memory_order_acquire) == 0) return;
  home_.run([&] { wait_as(static_cast<worker&>(*self), group); });
}

void detached_board::wait_as(worker& w, group_rest& group) noexcept {
  const busy_section here(w);
  const group_rest* const outer = w.awaited_group.load(std::memory_order_relaxed);  // the owner's own
  w.awaited_group.store(&group, std::memory_order_seq_cst);                         // [DB6]
  patience spinning = patience::of_searches();
  while (group.pending.load(std::memory_order_acquire) != 0) {  // [DB4]
    detached_task* t = nullptr;
    {
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
  w.awaited_group.store(outer, std::memory_order_seq_cst);  // [DB6]
  w.occupied();
}

}  // namespace filch::detail
