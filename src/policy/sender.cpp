#include "policy/sender.hpp"

#include <cmath>
#include <utility>

#include "loop/carve.hpp"
#include "platform/backoff.hpp"
#include "platform/clock.hpp"
#include "worker/patience.hpp"
#include "worker/sleepers.hpp"
#include "worker/team.hpp"

namespace filch::detail {
namespace {

/// How long a worker waits before it looks elsewhere. Short, since detached tasks are not dealt; long beside what
/// ending and beginning a wait takes, so that whoever deals mostly finds it waiting.
constexpr std::int64_t wait_ns = 20'000;

/// Calls f for those who may wait for what w is in the middle of, until it returns true. Did it?
template <class F>
bool any_waiter(worker& w, F f) {
  for (std::uint32_t i = 0; i < w.common.team.size(); ++i) {
    worker& other = w.common.team[i];
    if (w.waits_for_this(other) && f(other)) return true;
  }
  return false;
}

}  // namespace

using deque::communication_cell;

struct sender::mailbox final : cells {
  alignas(64) communication_cell cell;
  // The owner's.
  alignas(64) std::int64_t next_deal_ns = 0;
  std::int64_t looked_ns = 0;     ///< when it looked up last; 0: it had nothing to give then, or nobody was idle
  std::int64_t able_for_ns = 0;   ///< since its last attempt: time between looks at both of which it had something
  bool was_calm = false;          ///< nobody was idle after its last attempt
  bool sleeper_notified = false;  ///< a sleeper was notified of what there is to give
  void activation_begins() noexcept override { sleeper_notified = false; }
};

sender::sender(std::unique_ptr<victim_selector> victims, std::unique_ptr<join_strategy> joins,
               std::int64_t deal_interval_ns, bool steal_half)
    : private_policy(std::move(victims), std::move(joins)),
      deal_interval_ns_(static_cast<double>(deal_interval_ns)),
      steal_half_(steal_half) {}

sender::mailbox& sender::mailbox_of(const worker& w) noexcept { return static_cast<mailbox&>(*w.offered); }

std::unique_ptr<offer> sender::make_offer() const { return std::make_unique<mailbox>(); }

std::int64_t sender::time_to_next(worker& w) const noexcept {
  constexpr double step = 0x1p-53;
  const double u = static_cast<double>((w.random() >> 11) + 1) * step;
  return static_cast<std::int64_t>(-deal_interval_ns_ * std::log(u));
}

void sender::answer(worker& w) noexcept {
  mailbox& box = mailbox_of(w);
  w.pass_empty();
  if (!surplus_of(w, 0)) {  // attention stays raised, the next push or chunk comes here again
    box.looked_ns = 0;
    box.sleeper_notified = false;
    return w.note_nothing();
  }
  if (w.wait.dozing.load(std::memory_order_relaxed)) {  // the owner's own
    // Before it looks at the cells: who waits from now on finds it calm, and wakes it.
    w.calm();
    box.looked_ns = 0;
    const std::uint32_t n = w.common.team.size();
    for (std::uint32_t i = 1; i < n; ++i) static_cast<void>(attempt(w, w.common.team[(w.number + i) % n]));
    return;
  }
  const std::int64_t now_ns = platform::now_ns();
  if (box.looked_ns != 0) box.able_for_ns += now_ns - box.looked_ns;
  box.looked_ns = now_ns;
  // A Poisson process has no memory: since somebody asked it takes as long as ever.
  if (std::exchange(box.was_calm, false) && box.next_deal_ns < now_ns) {
    // [IN1] relaxed: a hint. An old value makes one date come too early.
    const std::int64_t asked_ns = w.asked.since_ns.load(std::memory_order_relaxed);
    box.next_deal_ns = (asked_ns == 0 ? now_ns : asked_ns) + time_to_next(w);
  }
  if (now_ns < box.next_deal_ns) {
    tell(w);
    return w.note_looked(now_ns);
  }
  w.calm();
  worker* const to = any_other(w);
  if (to != nullptr) {
    w.count(&counters::transfer_attempts);
    w.count(&counters::transfer_wait_ns, static_cast<std::uint64_t>(std::exchange(box.able_for_ns, 0)));
  }
  if (to != nullptr && !attempt(w, *to)) {
    any_waiter(w, [&](worker& other) { return &other != to && attempt(w, other); });
  }
  box.next_deal_ns = platform::now_ns() + time_to_next(w);
  // After it was calmed: who is not seen here falls asleep later, and asks everybody before it does; or waits later,
  // and then asks this worker.
  box.sleeper_notified = false;
  if (w.common.sleepers.anybody() || any_waiter(w, [&](const worker& other) { return is_awaited_by(w, other); })) {
    w.raise();
    tell(w);
  } else {
    box.looked_ns = 0;
    box.was_calm = true;
  }
}

// Who fell asleep while this worker had nothing does not know that it has something now, and that it is to be
// interrupted if it does not look again.
void sender::tell(worker& w) noexcept {
  if (!std::exchange(mailbox_of(w).sleeper_notified, true)) w.common.sleepers.offered(w);
}

bool sender::is_awaited_by(const worker& w, const worker& waiter) noexcept {
  const auto seen = mailbox_of(waiter).cell.look();
  return seen && seen->wanted.id != 0 && seen->wanted.of == w.number;
}

// The mark of a waiter that sleeps ([TS4]), or what it waits for ([DB6]), was set before it said that it waits ([CC1]).
void sender::wake(worker& w, worker& to, const communication_cell::view& seen) noexcept {
  if (seen.wanted.id == 0) {
    w.common.sleepers.wake(to);
  } else {
    w.wake_waiter();
  }
}

bool sender::attempt(worker& w, worker& to) const noexcept {
  communication_cell& cell = mailbox_of(to).cell;
  const auto seen = cell.look();
  if (!seen || (seen->wanted.id != 0 && seen->wanted.of != w.number)) return false;
  const surplus has = surplus_of(w, seen->wanted.id);
  if (has.tasks != 0) {
    if (!deal_tasks(w, to, *seen, has)) return false;
    wake(w, to, *seen);
    return true;
  }
  if (has.loop == nullptr || !cell.reserve(*seen)) return false;
  if (!give_half(w, *has.loop)) {
    cell.give_up(*seen);
    return false;
  }
  w.count(&counters::offers);
  cell.fill({.dealer = w.number, .tasks = {}});
  wake(w, to, *seen);
  w.common.sleepers.offered(w);
  return true;
}

bool sender::deal_tasks(worker& w, worker& to, const communication_cell::view& seen,
                        const surplus& has) const noexcept {
  communication_cell& cell = mailbox_of(to).cell;
  if (!steal_half_) {
    const deque::slot_range one = prepare(w, 1, to.number);
    if (!cell.put(seen, {.dealer = w.number, .tasks = one})) return false;
    let_go(w, one);
    return true;
  }
  if (!cell.reserve(seen)) return false;
  const deque::slot_range half = prepare(w, half_of(has, cell.room()), to.number);
  let_go(w, half);
  cell.fill({.dealer = w.number, .tasks = half});
  return true;
}

steal_result sender::take_task(worker& thief, worker& victim, const lineage* only) noexcept {
  communication_cell& mine = mailbox_of(thief).cell;
  const deque::wait_filter wanted =
      only == nullptr ? deque::wait_filter{} : deque::wait_filter{.of = only->thief, .id = only->id};
  mailbox_of(thief).was_calm = false;  // who gets something deals at once, as in the paper
  mine.wait(wanted, room_of(thief));
  victim.ask();
  patience waiting(wait_ns);
  const std::uint32_t n = thief.common.team.size();
  for (std::uint32_t i = 1; mine.is_waiting() && waiting.go_on(); ++i) {
    if (only != nullptr && !victim.activations.find(only->id)) break;
    // Of all who may deal to it, one after the other.
    worker& next = only != nullptr ? victim : thief.common.team[(victim.number + i) % n];
    if (&next != &thief) {
      next.ask();
      if (next.pieces.oldest(wanted.id)) break;
    }
    if (thief.must_attend(nullptr)) answer(thief);
  }
  return end_wait(thief, wanted.id);
}

steal_result sender::end_wait(worker& w, std::uint64_t id) noexcept {
  communication_cell& mine = mailbox_of(w).cell;
  for (platform::backoff dealing; !mine.cease();) {
    if (const auto got = mine.collect()) return received(w.common.team[got->dealer], got->tasks, id);
    if (mine.is_busy()) break;  // taken back
    dealing.wait();
  }
  return {};
}

// A worker that was asleep takes a while to come.
bool sender::reclaim(worker& w, slot& s) noexcept {
  // relaxed: who has marked the slot as taken has collected it before.
  const auto state = task_state::unpack(s.state.load(std::memory_order_relaxed));
  if (state.status != task_status::pending) return false;
  communication_cell& cell = mailbox_of(w.common.team[state.thief]).cell;
  const auto there = cell.uncollected();
  if (!there || there->dealer != w.number) return false;
  slot* const first = w.base + there->tasks.first;
  // Only the newest that are gone can become private again.
  if (&s < first || first + there->tasks.count != w.split.load() || !cell.take_back(*there)) return false;
  w.set_split(first);
  w.count(&counters::shrinks);
  return true;
}

bool sender::work_visible(worker& w) noexcept {
  communication_cell& mine = mailbox_of(w).cell;
  mine.wait({}, room_of(w));
  return stealing_policy::work_visible(w) || !mine.is_waiting();
}

bool sender::collect(worker& w) noexcept {
  if (mailbox_of(w).cell.is_busy()) return false;
  const steal_result found = end_wait(w, 0);
  return found && run_found(w, found);
}

// As an idle worker: it waits in its sleep, too.
void sender::await_help(worker& w, lineage awaited) noexcept {
  if (!w.activations.has_room()) return;
  mailbox_of(w).cell.wait({.of = awaited.thief, .id = awaited.id}, room_of(w));
}

void sender::collect_help(worker& w, lineage awaited, work_share* adopter) noexcept {
  if (mailbox_of(w).cell.is_busy()) return;
  if (const steal_result found = end_wait(w, awaited.id)) run_help(w, found, adopter);
}

}  // namespace filch::detail
