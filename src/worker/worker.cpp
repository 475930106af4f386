#include "worker/worker.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <filch/detail/bag_share.hpp>
#include <filch/detail/division.hpp>
#include <filch/detail/task_counts.hpp>
#include <filch/task_group.hpp>

#include "deque/split_deque.hpp"
#include "platform/clock.hpp"
#include "platform/exceptions.hpp"
#include "platform/thread.hpp"
#include "worker/interrupter.hpp"
#include "worker/loop_share.hpp"
#include "worker/outside_of_construct.hpp"
#include "worker/policy.hpp"
#include "worker/sleepers.hpp"
#include "worker/slow_path.hpp"
#include "worker/stand_in.hpp"
#include "worker/team.hpp"

namespace filch::detail {
namespace {

/// Between two notes that an owner has looked: short beside the time until it is interrupted.
constexpr std::int64_t seldom_ns = 20'000;

/// Interrupts in vain are 64 ms apart at last.
constexpr unsigned most_in_vain = 6;

// [TS10] relaxed: as [TS6].
bool is_dozing(const worker& w) noexcept { return w.wait.dozing.load(std::memory_order_relaxed); }

const group_rest* awaited_by(const worker& w) noexcept {
  // [DB6] seq_cst: who deals looks here after [AT3] and the waiter asks it afterwards ([AT2]), as with [CC1] and [CC2].
  // No exploration catches this: the waiter has said so for 50 us when it asks for the last time. For wake_waiter it is
  // as [TS6].
  return w.wait.group.load(std::memory_order_seq_cst);
}

/// Slots of a task stack.
std::size_t slots_in(std::size_t bytes) noexcept {
  return std::min<std::size_t>(bytes / sizeof(slot), deque::split_deque::max_tasks - 1);
}

}  // namespace

worker::worker(std::uint16_t own_number, scheduler_core& of, const common_parts& of_all, std::size_t stack_bytes,
               const platform::worker_place& own_place)
    : stack_(stack_bytes),
      run_memory_(slots_in(stack_bytes) * sizeof(group_run)),
      core(of),
      common(of_all),
      activations(slots_in(stack_bytes)),
      detached(own_number),
      seed_(platform::random_seed(own_number)),
      location(own_place),
      socket(own_place.groups[static_cast<std::size_t>(platform::group_level::socket)]) {
  // Zeroed pages are slots: nothing of a slot is read before it is written, but for its state, where 0 is pending.
  base = static_cast<slot*>(stack_.data());
  groups.runs = static_cast<group_run*>(run_memory_.data());
  if (common.is_place) scopes.emplace();
  if (common.policy.follows_traces()) traced_memory_.emplace(slots_in(stack_bytes) * sizeof(traced_task));
  inner.floor = base;
  head.store(base);
  set_split(base);
  end = base + (common.policy.runs_at_once() ? 0 : slots_in(stack_bytes));
  home = &of;
  number = own_number;
  loops.tuners = &own_tuners_;
  diverts = false;
}

void worker::begin_on_this_thread() noexcept {
  in_flight = &platform::exceptions_of_this_thread().uncaught;
  inner.unwinding = *in_flight;
  platform::signal_fence();  // a handler comes by `self`
  self = this;
  interrupt.thread.store(platform::current_thread(), std::memory_order_relaxed);  // [IN1]
  clock.begin_on_this_thread();
}

// 0 says that nobody has asked.
void worker::note_asked() noexcept {
  asked.since_ns.store(platform::now_ns() | 1, std::memory_order_relaxed);
}  // [IN1]

void worker::note_looked(std::int64_t now_ns) noexcept {
  interrupt.gave = false;
  // Not each time: others read that line.
  const std::int64_t until_ns = now_ns + interrupter::rest_ns;
  if (until_ns - asked.next_interrupt_ns.load(std::memory_order_relaxed) > seldom_ns) {  // [IN1], both
    asked.next_interrupt_ns.store(until_ns, std::memory_order_relaxed);
  }
}

void worker::note_nothing() noexcept {
  // Its attention is raised: it will look as soon as it makes something. Not so where it was interrupted, perhaps in
  // the middle of a push that had looked already; it is interrupted again, after longer and longer times.
  if (!interrupt.handling) {
    // [IN4] relaxed. A read-modify-write, so that [IN3] acquires from an earlier [IN2] through it.
    if (!asked.has_nothing.load(std::memory_order_relaxed)) asked.has_nothing.exchange(true, std::memory_order_relaxed);
  } else {
    interrupt.gave = false;
    interrupt.in_vain = std::min(interrupt.in_vain + 1, most_in_vain);
    const std::int64_t rest_ns = interrupter::rest_ns << interrupt.in_vain;
    asked.next_interrupt_ns.store(platform::now_ns() + rest_ns, std::memory_order_relaxed);
  }
}

void worker::forget_interrupts() noexcept {
  // That interrupts were in vain says nothing of what it does from now on.
  if (interrupt.handling || std::exchange(interrupt.in_vain, 0) == 0) return;
  asked.next_interrupt_ns.store(platform::now_ns() + interrupter::rest_ns, std::memory_order_relaxed);  // [IN1]
}

void worker::answer_interrupt() noexcept {
  // In the scheduler's own code it will look by itself, or is interrupted again.
  if (!must_attend(nullptr) || busy.load()) return;
  count(&counters::interrupts);
  interrupt.handling = true;
  interrupt.gave = true;
  attend(*this);
  if (interrupt.gave) {
    interrupt.in_vain = 0;
    // The next one who waits need not wait for longer than the first.
    asked.next_interrupt_ns.store(0, std::memory_order_relaxed);  // [IN1]
    attend(*this);                                                // who saw what it offers has asked meanwhile
  }
  interrupt.handling = false;
}

void worker::pass_empty() noexcept {
  for (slot* s = split.load(); s < head.load() && (s->run.load() == &run_joined || is_left(*s)); ++s) {
    s->state.store(task_state{.status = task_status::done}.pack(), std::memory_order_relaxed);  // nobody else has it
    set_split(s + 1);
  }
}

void worker::begin_scope_of(task& t, const worker* owner, void* scope_of_group) noexcept {
  void* scope = scope_of_group;
  if (owner != nullptr) {
    const auto* const s = static_cast<const slot*>(&t);
    scope = owner->has(*s)
                ? owner->scopes->of_slot(s)
                : owner->scopes->of_number(static_cast<const piece&>(t).number.load(std::memory_order_relaxed));
  }
  scopes->begin(head.load(), newest_id, scope);
}

void worker::run_as_activation(task& t, worker* owner, const group_rest* group, slot* own_base,
                               void* scope_of_group) noexcept {
  const running here{innermost_, &t, owner, group};
  if (scopes) begin_scope_of(t, owner, scope_of_group);
  wait.await_no_group();  // but those in here
  const innermost_part outer_part =
      std::exchange(inner, {.frame = &here, .floor = own_base, .tuner = nullptr, .unwinding = *in_flight});
  innermost_ = &here;
  // What this runs is not divided, unless it is a given task, which says so itself; but its constructs tell a profile of themselves.
  const bool outer_diverts = std::exchange(diverts, profile != nullptr);
  const task_place outer_place = std::exchange(place, {});
  begin_work();
  run_result result{};
  const std::int64_t since_ns = trace.begin();
  {
    const open_section in_task(*this);
    result = t.run.load()(t, run_by::in_place);
  }
  if (head.load() != own_base) settle(*this, own_base);
  if (owner != nullptr) {
    trace.end("task from", since_ns, owner->number);
  } else {
    trace.end("queued task", since_ns, 0);
  }
  place = outer_place;
  diverts = outer_diverts;
  if (diverts) raise();
  if (scopes) scopes->end();
  inner = outer_part;
  innermost_ = here.outer;
  activations.end();
  offered->activation_ended();
  // A detached task has told its group.
  if (owner != nullptr && result != run_result::released) finish(t, *owner, result);
}

void worker::finish(task& t, worker& owner, run_result result) noexcept {
  const auto status = result == run_result::done ? task_status::done : task_status::failed;
  // [TS2] release: what the task did, to its owner's join ([TS3]). The waiting mark, which the owner may have set
  // before it parked ([TS4]), is in the same word.
  const std::uint64_t before = t.state.exchange(task_state{.status = status}.pack(), std::memory_order_release);
  if (task_state::unpack(before).waiting) owner.parker.unpark();
}

void worker::run_taken(task& t, worker* owner) noexcept {
  run_claimed(t, owner, [&](std::uint64_t taken) {
    // [TS1] release: the activation's entry ([AC1]), for whoever follows the task to this worker.
    t.state.store(taken, std::memory_order_release);
    return true;
  });
}

template <class Take, class Found>
bool worker::run_given(worker& of, Take take, Found found) noexcept {
  const std::uint64_t number_of_this = new_id();
  slot* const own_base = head.load();
  activations.begin(number_of_this, index_of(own_base));
  const std::uint64_t taken = task_state{.status = task_status::taken, .thief = number, .id = number_of_this}.pack();
  given_task* const g = take(taken);
  if (g == nullptr) {
    activations.end();
    return false;
  }
  occupied();
  count(&of == this ? &counters::migrations : &counters::steals);
  found(g->giver);
  run_as_activation(g->record, &g->giver, nullptr, own_base);
  if (const auto since = steals.take_end()) activate(*this, *steals.get(), *since);
  return true;
}

bool worker::empties_inbox_of(const worker& other) const noexcept {
  return &other == this || (common.spares.are_needed() && !other.is_available());
}

bool worker::run_given(worker& of) noexcept {
  if (empties_inbox_of(of) ? !of.box.has_task() : !of.box.shows_task()) return false;
  return run_given(
      of, [&](std::uint64_t taken) { return empties_inbox_of(of) ? of.box.take(taken) : of.box.steal(taken); },
      [this](const worker& giver) { common.sleepers.end_search(*this, &giver); });
}

// Without room for an entry, too: nobody else may run what was given to a worker where nothing is stolen. What is begun
// then is not listed, and helped by nobody.
bool worker::run_given_in_wait() noexcept {
  const outside_of_construct here(*this);
  // What it has made before is as local afterwards as it was.
  const bool ran_migrated = runs_migrated.load(std::memory_order_relaxed);
  const bool ran =
      run_given(*this, [this](std::uint64_t taken) { return box.take_in_wait(taken); }, [](const worker& /*giver*/) {});
  runs_migrated.store(ran_migrated, std::memory_order_relaxed);
  return ran;
}

void worker::begin_detached(const group_rest& group) noexcept {
  activations.begin(new_id(), index_of(head.load()), &group);
}

void worker::run_detached(detached_task& t, void* scope) noexcept {
  run_as_activation(t, nullptr, t.home, head.load(), scope);
}

void worker::run_loose(task& t, const group_rest* group) noexcept {
  activations.begin(new_id(), index_of(head.load()));
  run_as_activation(t, nullptr, group, head.load());
}

void worker::run_batched(task& t, worker& owner, std::uint64_t expected) noexcept {
  run_claimed(t, &owner, [&](std::uint64_t taken) {
    // [TS5] release: as [TS1]. Its owner may have taken the task back and be using the slot for another: then the state
    // is another. No exploration catches this: what [TS1] shows would take a batch, a proxy that is stolen, and a
    // waiter that stands still for both.
    return t.state.compare_exchange_strong(expected, taken, std::memory_order_release, std::memory_order_relaxed);
  });
}

bool worker::waits_for_this(const worker& other) const noexcept {
  if (innermost_ == nullptr) return false;
  if (innermost_->owner != nullptr) return innermost_->owner == &other;
  return innermost_->group != nullptr && awaited_by(other) == innermost_->group;
}

void worker::wake_waiter() noexcept {
  // All of them: what is offered may be part of an outer loop, and then helps only those who wait for that. Enough to
  // find who matters: tasks nest this deep only under the random join.
  constexpr std::size_t most = 64;
  std::array<const group_rest*, most> awaited;
  auto awaited_end = awaited.begin();
  std::size_t depth = 0;
  for (const running* r = innermost_; r != nullptr && depth < most; r = r->outer, ++depth) {
    if (r->owner == nullptr) {
      // Null: nobody waits for it. Tasks of one group are often nested in each other.
      if (r->group != nullptr && (awaited_end == awaited.begin() || *(awaited_end - 1) != r->group))
        *awaited_end++ = r->group;
    } else if (task_state::unpack(r->t->state.load(std::memory_order_relaxed)).waiting) {
      // [TS6] relaxed: with [SL7] before it, a mark set before the waiter's last look is seen.
      r->owner->parker.unpark();
    }
  }
  // Once, however many groups there are: these are lines of others.
  for (std::uint32_t i = 0; awaited_end != awaited.begin() && i < common.team.size(); ++i) {
    worker& w = common.team[i];
    if (is_dozing(w) && std::find(awaited.begin(), awaited_end, awaited_by(w)) != awaited_end) w.parker.unpark();
  }
  // Callers that compare counts, of calls that this worker runs parts of.
  for (const work_share* f = work_share::bag_from(loops.innermost.load()); f != nullptr; f = f->outer_bag) {
    const task_counts* const counts = static_cast<const bag_share*>(f)->whole.counts;
    if (counts == nullptr) continue;
    auto& caller = static_cast<worker&>(counts->caller);
    if (is_dozing(caller)) caller.parker.unpark();
  }
}

}  // namespace filch::detail
