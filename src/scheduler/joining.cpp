// The slow paths of push and join: what the inlined fast path of worker_core.hpp calls when it may not go on.
#include "scheduler/joining.hpp"

#include <algorithm>
#include <cassert>

#include <filch/detail/loop_frame.hpp>
#include <filch/task_group.hpp>

#include "loop/adopt.hpp"
#include "platform/clock.hpp"
#include "policy/policy.hpp"
#include "worker/interrupter.hpp"
#include "worker/patience.hpp"
#include "worker/sleepers.hpp"
#include "worker/team.hpp"
#include "worker/worker.hpp"

namespace filch::detail {

constinit worker_core foreign_worker{};
constinit thread_local worker_core* self = &foreign_worker;

namespace {

/// Sleeps until the task is done, or until its thief offers something inside of it.
void sleep_until_done(worker& w, task& t, std::uint64_t seen, loop_frame* adopter) noexcept {
  task_state marked = task_state::unpack(seen);
  marked.waiting = true;
  std::uint64_t word = marked.pack();
  // [TS4] relaxed: a mark for the thief's exchange of the same word ([TS2]); for offers it is released by [SL4].
  if (!t.state.compare_exchange_strong(seen, word, std::memory_order_relaxed, std::memory_order_relaxed)) return;
  w.idle.begin_wait();
  w.rules.await_help(w, {marked.thief, marked.epoch});
  if (!w.rules.help_visible(w, {marked.thief, marked.epoch})) {
    doze_unless(w, [] { return false; }, [&] { return w.interrupts.due(w.everybody[marked.thief]); });
  }
  w.idle.end_wait();
  marked.waiting = false;
  // Awake: no need to be woken. Fails when the task is done, which is as well. relaxed as [TS4].
  t.state.compare_exchange_strong(word, marked.pack(), std::memory_order_relaxed, std::memory_order_relaxed);
  w.rules.collect_help(w, {marked.thief, marked.epoch}, adopter);
}

}  // namespace

join_result wait_for(worker& w, task& t, loop_frame* adopter) noexcept {
  patience spinning = patience::of_searches();
  for (;;) {
    // [TS3] acquire: what the task did, from [TS2]; and the thief's activation, from [TS1] or [TS5].
    std::uint64_t word = t.state.load(std::memory_order_acquire);
    const auto state = task_state::unpack(word);
    if (state.finished()) {
      w.occupied();
      return state.status == task_status::done ? join_result::done : join_result::failed;
    }
    if (state.status == task_status::batched) {
      // [TS9] relaxed: the slot is the owner's own work; the thief's claim [TS5] is of the same word.
      if (t.state.compare_exchange_strong(word, task_state{.status = task_status::reclaimed}.pack(),
                                          std::memory_order_relaxed, std::memory_order_relaxed)) {
        w.occupied();
        return join_result::reclaimed;
      }
      continue;
    }
    // Taken back before, and joined in place since.
    if (state.status == task_status::reclaimed) return join_result::reclaimed;
    w.waits_for.begin();
    const bool taken = state.status == task_status::taken;
    const auto adopted = [&] { return adopter != nullptr && has_work(*adopter); };
    if (taken && w.rules.help(w, {state.thief, state.epoch}, adopter)) {
      if (adopted()) return join_result::reclaimed;
      spinning.begin();
      continue;
    }
    if (w.must_attend(w.head.load())) attend(w);
    if (spinning.go_on()) continue;
    if (taken) {
      if (!w.interrupts.interrupt_if_due(w.everybody[state.thief])) sleep_until_done(w, t, word, adopter);
      if (adopted()) return join_result::reclaimed;
      spinning.begin();
    } else {
      platform::yield();  // the thief has won the task and is about to say so
    }
  }
}

void answer(worker& w) noexcept {
  if (!w.must_attend(nullptr)) return;
  w.forget_interrupts();
  w.rules.answer(w);
}

void attend(worker_core& core) noexcept {
  auto& w = static_cast<worker&>(core);
  const busy_section here(w);
  answer(w);  // unless an interrupt has done so meanwhile
}

void push_attending(worker_core& w, slot& s, task_function run, void* context) noexcept {
  s.run.store(run);
  s.context.store(context);
  platform::signal_fence();
  w.head.store(&s + 1);
  if (w.must_attend(nullptr)) attend(w);
}

join_result join_in_place(worker& w, slot& s) noexcept {
  return w.rules.reclaim(w, s) ? join_result::reclaimed : wait_for(w, s);
}

run_result run_joined(task& /*t*/, run_by /*who*/) { return run_result::done; }

run_result run_in_use(task& /*t*/, run_by /*who*/) {
  // Another body than run_joined has: functions are told apart by their addresses.
  static_cast<void>(self->head.load());
  return run_result::done;
}

join_result join_newest(worker& w, slot& s) noexcept {
  if (w.split.load() <= &s) {
    w.head.store(&s);
    return join_result::reclaimed;
  }
  w.head.store(&s + 1);
  const join_result how = join_in_place(w, s);
  if (w.split.load() <= &s) {
    w.head.store(&s);
  } else {
    w.rules.rejoin(w, s);
  }
  return how;
}

namespace {

/// The fast path has put head on a slot. Puts it above the newest that is not joined. True: that is this slot.
bool find_head_again(worker& w, slot& s) noexcept {
  slot* head = std::max(&s + 1, w.split.load());
  if (w.newest_block.load() > &s) head = std::max(head, w.block_end);
  w.head.store(head);
  drop_joined_above(w, &s + 1);
  return w.head.load() == &s + 1;
}

}  // namespace

void drop_joined(worker_core& core) noexcept {
  auto& w = static_cast<worker&>(core);
  const busy_section here(w);
  drop_joined_above(w, w.floor);
}

join_result join_guarded(worker_core& core, slot& s) noexcept {
  auto& w = static_cast<worker&>(core);
  const busy_section here(w);
  if (find_head_again(w, s)) return join_newest(w, s);
  const join_result how = w.split.load() > &s ? join_in_place(w, s) : join_result::reclaimed;
  leave_joined(w, s);
  return how;
}

bool regain(worker_core& core, slot& s) noexcept {
  auto& w = static_cast<worker&>(core);
  const busy_section here(w);
  if (!find_head_again(w, s)) return false;
  join_newest(w, s);  // at most a thief has run the empty task
  return true;
}

void settle(worker_core& core, slot* base) noexcept {
  auto& w = static_cast<worker&>(core);
  const busy_section here(w);
  drop_joined_above(w, base);
  assert(w.head.load() == base);
}

join_result abandon(worker_core& w, slot& s) noexcept {
  w.head.store(&s);
  platform::signal_fence();
  return w.guard.load() > &s ? join_guarded(w, s) : join_result::reclaimed;
}

}  // namespace filch::detail
