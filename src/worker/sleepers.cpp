#include "worker/sleepers.hpp"

#include <algorithm>

#include "platform/clock.hpp"
#include "worker/interrupter.hpp"
#include "worker/policy.hpp"
#include "worker/team.hpp"
#include "worker/worker.hpp"

namespace filch::detail {

void sleepers::begin_search() noexcept {
  // [SL0] relaxed: which of these changes an offer overlooks does not matter; see docs/protocols/sleep.md.
  counts_.fetch_add(one_searching, std::memory_order_relaxed);
}

void sleepers::end_search(worker& w, const worker* look_at) noexcept {
  const std::uint64_t own = one_searching + (w.search.forget() ? one_sent : 0);
  // [SL5] acquire: the words of those who announced before ([SL3]), one of whom is to be woken.
  const std::uint64_t left = counts_.fetch_sub(own, std::memory_order_acquire) - own;
  // Anybody: it may be a detached task that the searcher was expected to find.
  if (somebody_needed(left)) wake_any(1, look_at, takers::anybody);
}

void sleepers::lose_track(worker& w) noexcept {
  if (w.search.forget()) counts_.fetch_sub(one_sent, std::memory_order_relaxed);  // [SL0]
}

void sleepers::announce(worker& w) noexcept {
  // [SL16] seq_cst: before the last look for work, as [SL3]; pairs with [SL17].
  announced_.fetch_add(1, std::memory_order_seq_cst);
  // The word first: who sees the count must find somebody to wake. relaxed: released by the next line.
  w.sleep.state.store(sleep_state::asleep, std::memory_order_relaxed);
  latest_.store(w.number, std::memory_order_relaxed);  // a hint
  // [SL3] seq_cst: before the last look for work ([SD1], [CL4], [DQ1]) in the one total order; pairs with [SL1].
  const std::uint64_t own = one_searching + (w.search.forget() ? one_sent : 0);
  counts_.fetch_add(one_sleeping - own, std::memory_order_seq_cst);
  // [SL14] seq_cst: before the last look for what others bring ([IB2]); pairs with [SL15].
  w.sleep.announced.store(true, std::memory_order_seq_cst);
}

bool sleepers::claim(worker& w, const worker* look_at) noexcept {
  sleep_state found = sleep_state::asleep;
  // [SL6] relaxed: exactly one of the waker and the worker itself ends the sleep and corrects the counts; that it is
  // one follows from the word alone. What there is to do the worker finds by looking.
  if (!w.sleep.state.compare_exchange_strong(found, sleep_state::claimed, std::memory_order_relaxed,
                                             std::memory_order_relaxed)) {
    return false;
  }
  const std::uint64_t sent = look_at != nullptr ? one_sent : 0;
  counts_.fetch_add(one_searching + sent - one_sleeping, std::memory_order_relaxed);  // [SL0]
  announced_.fetch_sub(1, std::memory_order_relaxed);                                 // [SL0]
  w.sleep.look_at.store(look_at, std::memory_order_relaxed);                          // published by [SL13]
  // [SL13] release: the corrected counts come first; pairs with [SL8]. No exploration catches this: as [AT5].
  w.sleep.state.store(sleep_state::awake, std::memory_order_release);
  return true;
}

void sleepers::withdraw(worker& w) noexcept {
  w.sleep.announced.store(false, std::memory_order_relaxed);  // a late wake-up does no harm
  // When a waker was faster, its token may stay behind; every park is repeated until its reason is gone.
  if (!claim(w)) static_cast<void>(park(w, interrupter::never));
  w.search.follow(w.sleep.look_at.load(std::memory_order_relaxed));  // the waker's, or its own: none
}

bool sleepers::sleep(worker& w, std::int64_t deadline_ns) noexcept {
  w.count(&counters::parks);
  const std::int64_t since_ns = w.trace.begin();
  const bool woken = park(w, deadline_ns);
  w.trace.end("asleep", since_ns, 0);
  end_sleep(w, woken);
  return woken;
}

void sleepers::end_sleep(worker& w, bool woken) noexcept {
  if (woken) {
    w.sleep.announced.store(false, std::memory_order_relaxed);
    w.search.follow(w.sleep.look_at.load(std::memory_order_relaxed));
  } else {
    withdraw(w);
  }
}

bool sleepers::park(worker& w, std::int64_t deadline_ns) noexcept {
  // [SL8] acquire: the corrected counts, [SL13], before this worker changes them again. No exploration catches this: as
  // [AT5].
  while (w.sleep.state.load(std::memory_order_acquire) != sleep_state::awake) {
    if (deadline_ns != interrupter::never && platform::now_ns() >= deadline_ns) return false;
    w.parker.park_until(deadline_ns);
  }
  return true;
}

bool sleepers::wake_any(unsigned most, const worker* look_at, takers who) noexcept {
  unsigned woken = 0;
  const std::uint32_t n = team_.size();
  // The latest first: its caches are the warmest, and mostly nobody else has to be looked at.
  const std::uint32_t start = latest_.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < n && woken < most; ++i) {
    worker& w = team_[(start + i) % n];
    if (w.sleep.state.load(std::memory_order_relaxed) != sleep_state::asleep) continue;
    if (who == takers::thieves && !w.common.policy.may_come(w, *look_at)) continue;
    if (claim(w, look_at)) {
      latest_.store((start + i + 1) % n, std::memory_order_relaxed);  // for the next one who looks
      w.parker.unpark();
      ++woken;
    }
  }
  return woken != 0;
}

bool sleepers::somebody_sleeps() const noexcept {
  // [SL17] seq_cst: after the offer in the one total order; pairs with [SL16].
  return announced_.load(std::memory_order_seq_cst) != 0;
}

void sleepers::offered() noexcept {
  if (!somebody_sleeps()) return;
  // [SL1] seq_cst: after the offer in the one total order; pairs with [SL3].
  if (somebody_needed(counts_.load(std::memory_order_seq_cst))) wake_any(1, nullptr, takers::anybody);
}

void sleepers::offered(worker& by, unsigned parts, takers who) noexcept {
  if (!by.interrupt.handling) by.trace.moment("offer", parts);  // the handler may be in the middle of another note
  // [SL7] seq_cst: pairs with [SL4], as [SL1] with [SL3].
  const bool somebody_waits = waiting_.load(std::memory_order_seq_cst) != 0;
  // Most offers end here, without a look at the counts, which change whenever somebody finds work.
  if (!somebody_waits && !somebody_sleeps()) return;
  const std::uint64_t counts = counts_.load(std::memory_order_seq_cst);  // [SL1]
  // Who was sent elsewhere does not come here, nor does who may not.
  const bool all_come = who == takers::anybody || by.common.policy.steals_anywhere();
  const std::uint64_t coming = all_come ? searching_in(counts) - sent_in(counts) : 0;
  if (sleeping_in(counts) != 0 && coming < parts) {
    if (wake_any(parts - static_cast<unsigned>(coming), &by, who)) return;
  } else if (counts != 0) {
    return;  // a searcher will find it
  }
  if (somebody_waits) by.wake_waiter();
}

void sleepers::wake(worker& w) noexcept {
  // [SL12] relaxed: who waits while it sleeps, or is about to, has said so after it set its word ([CC1]).
  if (w.sleep.state.load(std::memory_order_relaxed) == sleep_state::asleep && claim(w)) w.parker.unpark();
}

void sleepers::deliver(worker& w) noexcept {
  // [SL15] seq_cst: after [IB1], or [SR4]. Who has not announced its sleep looks later. Who has is counted: nobody else may be
  // claimed, or the counts would be wrong for a moment.
  if (w.sleep.announced.load(std::memory_order_seq_cst)) wake(w);
}

std::uint32_t sleepers::idle() const noexcept {
  // [SL10] relaxed: a hint.
  const std::uint64_t counts = counts_.load(std::memory_order_relaxed);
  return static_cast<std::uint32_t>(searching_in(counts) + sleeping_in(counts));
}

std::uint32_t sleepers::hungry() const noexcept { return std::max<std::uint32_t>(idle(), 1); }

bool sleepers::all_but_one() const noexcept {
  return sleeping_in(counts_.load(std::memory_order_relaxed)) + 1 >= team_.size();  // [SL10]
}

void sleepers::begin_warm() noexcept {
  warm_.fetch_add(1, std::memory_order_seq_cst);  // [KW1] before the look for sleepers
  wake_all();
}

void sleepers::wake_all() noexcept {
  // [SL9] seq_cst: after [ST1] in the one total order, and acquires the words of those who announced before; else the
  // words could be read as they were before that. The number itself may lag behind the words and is not asked.
  static_cast<void>(counts_.load(std::memory_order_seq_cst));
  for (std::uint32_t i = 0; i < team_.size(); ++i) {
    worker& w = team_[i];
    if (claim(w)) w.parker.unpark();
  }
}

}  // namespace filch::detail
