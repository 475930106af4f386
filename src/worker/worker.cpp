#include "worker/worker.hpp"

#include <algorithm>
#include <utility>

#include <filch/detail/bag_part.hpp>
#include <filch/detail/loop_frame.hpp>
#include <filch/detail/task_counts.hpp>
#include <filch/task_group.hpp>

#include "deque/split_deque.hpp"
#include "platform/clock.hpp"
#include "platform/exceptions.hpp"
#include "platform/thread.hpp"
#include "worker/interrupter.hpp"
#include "worker/sleepers.hpp"
#include "worker/team.hpp"

namespace filch {
namespace {

/// Between two notes that an owner has looked: short beside the time until it is interrupted.
constexpr std::int64_t seldom_ns = 20'000;

/// Interrupts in vain are 64 ms apart at last.
constexpr unsigned most_in_vain = 6;

// [TS10] relaxed: as [TS6].
bool is_dozing(const worker& w) noexcept { return w.dozing.load(std::memory_order_relaxed); }

bool awaits(const worker& w, const detail::group_rest* group) noexcept {
  // [DB6] seq_cst: who deals looks here after [AT3] and the waiter asks it afterwards ([AT2]), as with [CC1] and [CC2].
  // Not noticed: the waiter has said so for 50 us when it asks for the last time. For wake_waiter it is as [TS6].
  return w.awaited_group.load(std::memory_order_seq_cst) == group;
}

/// Slots of a task stack.
std::size_t slots_in(std::size_t bytes) noexcept {
  return std::min<std::size_t>(bytes / sizeof(detail::slot), deque::split_deque::max_tasks - 1);
}

}  // namespace

worker::worker(std::uint16_t own_number, scheduler& own_home, team& whole_team, sleepers& all_sleepers,
               interrupter& all_interrupts, policy& chosen_policy, std::size_t stack_bytes)
    : stack_(stack_bytes),
      run_memory_(slots_in(stack_bytes) * sizeof(detail::group_run)),
      number(own_number),
      everybody(whole_team),
      idle(all_sleepers),
      interrupts(all_interrupts),
      rules(chosen_policy),
      activations(slots_in(stack_bytes)),
      seed_(platform::random_seed(own_number)) {
  // Zeroed pages are slots: nothing of a slot is read before it is written, but for its state, where 0 is pending.
  base = static_cast<detail::slot*>(stack_.data());
  runs = reinterpret_cast<std::uintptr_t>(run_memory_.data()) - reinterpret_cast<std::uintptr_t>(base) / 2;
  floor = base;
  head.store(base);
  set_split(base);
  end = base + slots_in(stack_bytes);
  home = &own_home;
  sites = &own_sites_;
}

void worker::begin_on_this_thread() noexcept {
  in_flight = &platform::exceptions_of_this_thread().uncaught;
  unwinding = *in_flight;
  platform::signal_fence();  // a handler comes by `self`
  detail::self = this;
  thread.store(platform::current_thread(), std::memory_order_relaxed);  // [IN1]
}

// 0 says that nobody has asked.
void worker::note_asked() noexcept { asked_ns.store(platform::now_ns() | 1, std::memory_order_relaxed); }  // [IN1]

void worker::note_looked(std::int64_t now_ns) noexcept {
  gave_ = false;
  // Not each time: others read that line.
  const std::int64_t until_ns = now_ns + interrupter::rest_ns;
  if (until_ns - next_interrupt_ns.load(std::memory_order_relaxed) > seldom_ns) {  // [IN1], both
    next_interrupt_ns.store(until_ns, std::memory_order_relaxed);
  }
}

void worker::note_nothing() noexcept {
  told = false;
  // Its attention is raised: it will look as soon as it makes something. Not so where it was interrupted, perhaps in
  // the middle of a push that had looked already; it is interrupted again, after longer and longer times.
  if (!interrupted) {
    // [IN4] relaxed. A read-modify-write, so that [IN3] acquires from an earlier [IN2] through it.
    if (!has_nothing.load(std::memory_order_relaxed)) has_nothing.exchange(true, std::memory_order_relaxed);
  } else {
    gave_ = false;
    interrupted_in_vain_ = std::min(interrupted_in_vain_ + 1, most_in_vain);
    const std::int64_t rest_ns = interrupter::rest_ns << interrupted_in_vain_;
    next_interrupt_ns.store(platform::now_ns() + rest_ns, std::memory_order_relaxed);
  }
}

void worker::forget_interrupts() noexcept {
  // That interrupts were in vain says nothing of what it does from now on.
  if (interrupted || std::exchange(interrupted_in_vain_, 0) == 0) return;
  next_interrupt_ns.store(platform::now_ns() + interrupter::rest_ns, std::memory_order_relaxed);  // [IN1]
}

void worker::answer_interrupt() noexcept {
  // In the scheduler's own code it will look by itself, or is interrupted again.
  if (!must_attend(nullptr) || busy.load()) return;
  count(&counters::interrupts);
  interrupted = true;
  gave_ = true;
  detail::attend(*this);
  if (gave_) {
    interrupted_in_vain_ = 0;
    // The next one who waits need not wait for longer than the first.
    next_interrupt_ns.store(0, std::memory_order_relaxed);  // [IN1]
    detail::attend(*this);                                  // who saw what it offers has asked meanwhile
  }
  interrupted = false;
}

void worker::pass_joined() noexcept {
  for (detail::slot* s = split.load(); s < head.load() && s->run.load() == &detail::run_joined; ++s) {
    s->state.store(task_state{.status = task_status::done}.pack(), std::memory_order_relaxed);  // nobody else has it
    set_split(s + 1);
  }
}

void worker::run_as_activation(detail::task& t, worker* owner, detail::slot* own_base) noexcept {
  const running here{innermost_, &t, owner,
                     owner == nullptr ? static_cast<const detail::detached_task&>(t).home : nullptr};
  const void* const outer_frame = frame;
  // As long as this runs it waits for no group but those in here.
  const detail::group_rest* const outer_wait = awaited_group.load(std::memory_order_relaxed);  // the owner's own
  if (outer_wait != nullptr) awaited_group.store(nullptr, std::memory_order_relaxed);
  detail::loop_site* const outer_site = std::exchange(site, nullptr);
  detail::slot* const outer_floor = std::exchange(floor, own_base);
  const unsigned int outer_unwinding = std::exchange(unwinding, *in_flight);
  innermost_ = &here;
  frame = &here;
  begin_work();
  detail::run_result result{};
  {
    const detail::open_section in_task(*this);
    result = t.run.load()(t, detail::run_by::in_place);
  }
  if (head.load() != own_base) detail::settle(*this, own_base);
  if (outer_wait != nullptr) awaited_group.store(outer_wait, std::memory_order_seq_cst);  // [DB6]
  site = outer_site;
  frame = outer_frame;
  floor = outer_floor;
  unwinding = outer_unwinding;
  innermost_ = here.outer;
  activations.end();
  offered->activation_ended();
  // A detached task has told its group.
  if (owner != nullptr && result != detail::run_result::released) finish(t, *owner, result);
}

void worker::finish(detail::task& t, worker& owner, detail::run_result result) noexcept {
  const auto status = result == detail::run_result::done ? task_status::done : task_status::failed;
  // [TS2] release: what the task did, to its owner's join ([TS3]). The waiting mark, which the owner may have set
  // before it parked ([TS4]), is in the same word.
  const std::uint64_t before = t.state.exchange(task_state{.status = status}.pack(), std::memory_order_release);
  if (task_state::unpack(before).waiting) owner.parker.unpark();
}

void worker::run_taken(detail::task& t, worker* owner) noexcept {
  run_claimed(t, owner, [&](std::uint64_t taken) {
    // [TS1] release: the activation's entry ([AC1]), for whoever follows the task to this worker.
    t.state.store(taken, std::memory_order_release);
    return true;
  });
}

void worker::begin_detached(const detail::group_rest& group) noexcept {
  activations.begin(new_epoch(), index_of(head.load()), &group);
}

void worker::run_detached(detail::detached_task& t) noexcept { run_as_activation(t, nullptr, head.load()); }

void worker::run_batched(detail::task& t, worker& owner, std::uint64_t expected) noexcept {
  run_claimed(t, &owner, [&](std::uint64_t taken) {
    // [TS5] release: as [TS1]. Its owner may have taken the task back and be using the slot for another: then the state
    // is another. Not noticed: what [TS1] shows would take a batch, a proxy that is stolen, and a waiter that stands
    // still for both.
    return t.state.compare_exchange_strong(expected, taken, std::memory_order_release, std::memory_order_relaxed);
  });
}

worker* worker::waiter() const noexcept {
  if (innermost_ == nullptr || innermost_->owner != nullptr) {
    return innermost_ == nullptr ? nullptr : innermost_->owner;
  }
  for (std::uint32_t i = 0; i < everybody.size(); ++i) {
    if (awaits(everybody[i], innermost_->group)) return &everybody[i];
  }
  return nullptr;
}

void worker::wake_waiter() noexcept {
  // All of them: what is offered may be part of an outer loop, and then helps only those who wait for that. Enough to
  // find who matters: tasks nest this deep only under the random join.
  int depth = 64;
  for (const running* r = innermost_; r != nullptr && depth > 0; r = r->outer, --depth) {
    if (r->owner == nullptr) {
      for (std::uint32_t i = 0; i < everybody.size(); ++i) {
        worker& w = everybody[i];
        if (is_dozing(w) && awaits(w, r->group)) w.parker.unpark();
      }
    } else if (task_state::unpack(r->t->state.load(std::memory_order_relaxed)).waiting) {
      // [TS6] relaxed: with [SL7] before it, a mark set before the waiter's last look is seen.
      r->owner->parker.unpark();
    }
  }
  // Callers that compare counts, of calls that this worker runs parts of.
  for (const detail::loop_frame* f = loops.load(); f != nullptr; f = f->outer) {
    if (f->bag == nullptr || f->bag->whole.counts == nullptr) continue;
    auto& caller = static_cast<worker&>(f->bag->whole.counts->caller);
    if (is_dozing(caller)) caller.parker.unpark();
  }
}

}  // namespace filch
