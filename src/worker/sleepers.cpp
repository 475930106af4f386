#include "worker/sleepers.hpp"

#include <algorithm>
#include <utility>

#include "platform/clock.hpp"
#include "worker/interrupter.hpp"
#include "worker/policy.hpp"
#include "worker/team.hpp"
#include "worker/worker.hpp"

namespace filch::detail {

void sleepers::begin_search(const worker& w) noexcept {
  // [SL0] relaxed: whether an offer overlooks it does not matter; see docs/protocols/sleep.md.
  marks_[w.number].store(idle_mark::searching, std::memory_order_relaxed);
}

void sleepers::end_search(worker& w, const worker* look_at) noexcept {
  const worker* const sent_to = w.search.forget();
  // [SL5] seq_cst: before the looks at who sleeps and who searches still; pairs with itself, of another one.
  marks_[w.number].store(idle_mark::none, std::memory_order_seq_cst);
  if (!somebody_sleeps()) return;
  // What it was woken for may be there still, and who searches may have no right to it.
  if (sent_to != nullptr && sent_to != look_at && !w.common.policy.steals_anywhere()) {
    wake_any(1, &w, sent_to, takers::thieves);
  }
  if (holds_back() || somebody_searches(w.number)) return;
  // Anybody: it may be a detached task that the searcher was expected to find.
  wake_any(1, &w, look_at, takers::anybody);
}

void sleepers::lose_track(worker& w) noexcept {
  if (w.search.forget() != nullptr) begin_search(w);
}

void sleepers::announce(worker& w) noexcept {
  announced_.add(w.number);
  // Its word before its mark: who sees neither a searcher nor work must find somebody to wake. relaxed: released by [SL3].
  w.sleep.state.store(sleep_state::asleep, std::memory_order_relaxed);
  static_cast<void>(w.search.forget());
  // [SL3] seq_cst: before the last look for work ([SD1], [CL4], [DQ1]) in the one total order; pairs with [SL1].
  marks_[w.number].store(idle_mark::asleep, std::memory_order_seq_cst);
  // [SL14] seq_cst: before the last look for what others bring ([IB2]); pairs with [SL15].
  w.sleep.announced.store(true, std::memory_order_seq_cst);
}

bool sleepers::claim(worker& w, const worker* look_at) noexcept {
  sleep_state found = sleep_state::asleep;
  // [SL6] relaxed: exactly one of the waker and the worker itself ends the sleep, and says that it searches; that it is
  // one follows from the word alone. What there is to do the worker finds by looking.
  if (!w.sleep.state.compare_exchange_strong(found, sleep_state::claimed, std::memory_order_relaxed,
                                             std::memory_order_relaxed)) {
    return false;
  }
  const idle_mark mark = look_at != nullptr ? idle_mark::sent : idle_mark::searching;
  marks_[w.number].store(mark, std::memory_order_relaxed);  // [SL0]
  announced_.remove(w.number);
  w.sleep.look_at.store(look_at, std::memory_order_relaxed);  // published by [SL13]
  // [SL13] release: its mark comes first, which is the worker's again then; pairs with [SL8].
  w.sleep.state.store(sleep_state::awake, std::memory_order_release);
  return true;
}

void sleepers::withdraw(worker& w) noexcept { end_sleep(w, false); }

bool sleepers::sleep(worker& w, std::int64_t deadline_ns) noexcept {
  w.count(&counters::parks);
  const std::int64_t since_ns = w.trace.begin();
  const bool woken = park(w, deadline_ns);
  w.trace.end("asleep", since_ns, 0);
  end_sleep(w, woken);
  return woken;
}

void sleepers::end_sleep(worker& w, bool woken) noexcept {
  w.sleep.announced.store(false, std::memory_order_relaxed);  // a late wake-up does no harm
  // When a waker was faster, its token may stay behind; every park is repeated until its reason is gone.
  if (!woken && !claim(w)) static_cast<void>(park(w, interrupter::never));
  // Who claimed it between its word and its mark has set that too early.
  if (marks_[w.number].load(std::memory_order_relaxed) == idle_mark::asleep) begin_search(w);
  w.search.follow(w.sleep.look_at.load(std::memory_order_relaxed));  // the waker's, or its own: none
}

bool sleepers::park(worker& w, std::int64_t deadline_ns) noexcept {
  // [SL8] acquire: its mark, [SL13], before this worker changes that again.
  while (w.sleep.state.load(std::memory_order_acquire) != sleep_state::awake) {
    if (deadline_ns != interrupter::never && platform::now_ns() >= deadline_ns) return false;
    w.parker.park_until(deadline_ns);
  }
  return true;
}

bool sleepers::wake_any(unsigned most, worker* by, const worker* look_at, takers who) noexcept {
  unsigned woken = 0;
  const std::uint32_t n = team_.size();
  std::uint32_t from = by != nullptr ? by->number : 0;
  bool may_go_on_elsewhere = by != nullptr && !by->interrupt.handling;  // its handler leaves its random numbers alone
  for (std::uint32_t left = n; left != 0 && woken < most; --left) {
    const std::uint32_t number = (from + n - left) % n;
    // [SL1] seq_cst: as there; whose mark is not seen announces later.
    if (marks_[number].load(std::memory_order_seq_cst) != idle_mark::asleep) continue;
    worker& w = team_[number];
    if (who == takers::thieves && !w.common.policy.may_come(w, *look_at)) continue;
    if (claim(w, look_at)) {
      if (by != nullptr && by == look_at && !by->interrupt.handling) by->last_sent = &w;
      w.parker.unpark();
      ++woken;
    } else if (std::exchange(may_go_on_elsewhere, false)) {
      // Another waker was faster, and would meet this one at each further sleeper. All of them once more.
      from = static_cast<std::uint32_t>(((by->random() >> 32) * n) >> 32);
      left = n + 1;
    }
  }
  return woken != 0;
}

bool sleepers::somebody_sleeps() const noexcept { return announced_.any(team_.size()); }

bool sleepers::somebody_searches(std::uint32_t near) const noexcept {
  return marks_.count(team_.size(), 1, near, &is_search) != 0;
}

void sleepers::offered() noexcept {
  if (somebody_sleeps() && !holds_back() && !somebody_searches(0)) wake_any(1, nullptr, nullptr, takers::anybody);
}

bool sleepers::are_crowded() const noexcept {
  const std::uint32_t workers = team_.size();
  // relaxed: a hint; the lookout looks again.
  const std::uint32_t asleep = announced_.about(workers) + waiting_.load(std::memory_order_relaxed);
  return crowd_.is_one(workers - std::min(workers, asleep));
}

bool sleepers::holds_back() noexcept {
  if (crowd_.processors() == 0 || crowd_.is_open() || !are_crowded()) return false;
  crowd_.note();
  return true;
}

bool sleepers::last_sent_comes(const worker& to) noexcept {
  const worker* const w = to.last_sent;
  // [SL18] seq_cst: after the offer, as [SL1]: it is a searcher whose search ends later, [SL5]. relaxed: where to is a hint.
  return w != nullptr && marks_[w->number].load(std::memory_order_seq_cst) == idle_mark::sent &&
         w->sleep.look_at.load(std::memory_order_relaxed) == &to;
}

void sleepers::offered(worker& by, unsigned parts, takers who, bool is_only) noexcept {
  if (!by.interrupt.handling) by.trace.moment("offer", parts);  // the handler may be in the middle of another note
  // [SL7] seq_cst: pairs with [SL4], as [SL1] with [SL3].
  const bool somebody_waits = waiting_.load(std::memory_order_seq_cst) != 0;
  if (somebody_sleeps()) {
    if (holds_back()) return;  // before all looks at marks: there are such offers for as long as there is a crowd
    // Who was sent may have been sent elsewhere, or for what was offered before; but for a single task one that is on its way here is
    // enough, or a worker whose tasks are brief would wake one after the other before the first has come. Who may not come does not.
    const bool all_come = who == takers::anybody || by.common.policy.steals_anywhere();
    if (is_only && all_come && last_sent_comes(by)) return;
    const auto comes = [](idle_mark m) { return m == idle_mark::searching; };
    const std::uint32_t coming = all_come ? marks_.count(team_.size(), parts, by.number, comes) : 0;
    if (coming >= parts || wake_any(parts - coming, &by, &by, who)) return;
  } else if (!somebody_waits || somebody_searches(by.number)) {
    return;  // most offers end here; or a searcher will find it
  }
  if (somebody_waits) by.wake_waiter();
}

void sleepers::wake(worker& w) noexcept {
  // [SL12] relaxed: who waits while it sleeps, or is about to, has said so after it set its word ([CC1]).
  if (w.sleep.state.load(std::memory_order_relaxed) == sleep_state::asleep && claim(w)) w.parker.unpark();
}

void sleepers::deliver(worker& w) noexcept {
  // [SL15] seq_cst: after [IB1], or [SR4]. Who has not announced its sleep looks later. Who has is counted: nobody else may be
  // claimed: between its word and its mark it would be counted wrongly.
  if (w.sleep.announced.load(std::memory_order_seq_cst)) wake(w);
}

bool sleepers::anybody() const noexcept {
  // Who falls asleep, or is woken, has a mark all the time.
  // Seen after [AT3], as [SL1]: else it announces later.
  return marks_.count(team_.size(), 1, 0, [](idle_mark m) { return m != idle_mark::none; }) != 0;
}

std::uint32_t sleepers::idle() const noexcept {
  const std::uint32_t workers = team_.size();
  return marks_.count(workers, workers, 0, [](idle_mark m) { return m != idle_mark::none; });
}

std::uint32_t sleepers::about_idle(const worker& near) const noexcept {
  // Sleepers are woken in the order of their numbers: the neighbours' marks do not say how many are left.
  return announced_.about(team_.size()) + marks_.estimate(team_.size(), near.number);
}

bool sleepers::all_but_one() const noexcept { return announced_.about(team_.size()) + 1 >= team_.size(); }

void sleepers::begin_warm() noexcept {
  warm_.fetch_add(1, std::memory_order_seq_cst);  // [KW1] before the look for sleepers
  wake_all();
}

void sleepers::wake_all() noexcept {
  for (std::uint32_t i = 0; i < team_.size(); ++i) {
    worker& w = team_[i];
    // [SL9] seq_cst: after [ST1] in the one total order, and acquires the word of who announced before; else it could be
    // read as it was before that.
    static_cast<void>(marks_[i].load(std::memory_order_seq_cst));
    if (claim(w)) w.parker.unpark();
  }
}

}  // namespace filch::detail
