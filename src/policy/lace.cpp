#include "policy/lace.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <filch/platform/ticks.hpp>

#include "loop/carve.hpp"
#include "platform/clock.hpp"
#include "worker/patience.hpp"
#include "worker/sleepers.hpp"
#include "worker/team.hpp"

namespace filch::detail {
namespace {

/// An owner that looks later than that after it was asked is in long tasks. Beside it an offer costs nothing, and it is
/// about what a thief spends before it falls asleep.
constexpr std::int64_t late_ns = 50'000;

/// An owner that looks later than that after it was asked is in a loop with long chunks.
constexpr std::int64_t slow_ns = 4'000;

/// Of the tasks on offer a thief takes no more at a time than would leave so many thefts for each worker; or as many as are worth a
/// theft, but no more than its share: else who is left with the last thousand tasks of nothing is held up by thieves, one for each
/// task. And the next may be long, and what a thief has taken others find no more.
constexpr std::uint32_t thefts_per_worker = 4;

/// While one thief takes a task of a victim, the others wait for the victim's line. So what it takes at a time, if it is
/// several tasks, takes about so long for each worker. About what a theft takes, too.
std::uint64_t ticks_per_worker() noexcept { return platform::ticks_of_some_us() / 2; }

/// Before any time that is compared with it.
constexpr std::int64_t long_ago_ns = std::numeric_limits<std::int64_t>::min() / 2;

/// Ticks of a worker's tasks, before it has taken any.
constexpr std::uint64_t unknown = ~std::uint64_t{0};

/// An owner that was late has to answer that often without being late.
constexpr unsigned answers_after_late = 32;

}  // namespace

struct lace::shared_part final : offer {
  explicit shared_part(bool offers_may_rest) noexcept : may_rest(offers_may_rest) {}

  alignas(64) deque::split_deque deque;
  // On its line, which a thief has taken anyway.
  platform::atomic<std::int64_t> emptied_ns{long_ago_ns};  ///< when a thief took the last thing on offer
  platform::atomic<bool> next_wanted{false};               ///< such a thief has asked for the next
  platform::atomic<std::uint64_t> rests_until{0};          ///< ticks; 0: the offer does not rest
  // The owner's.
  alignas(64) bool all_stolen = true;   ///< a copy
  bool began = false;                   ///< it has begun an activation and not answered since, or all was stolen
  bool looked = false;                  ///< it has looked since it was asked, and had nothing to give
  const bool may_rest;                  ///< its offers, with this policy
  std::uint64_t offered_at = 0;         ///< ticks, the latest offer
  std::uint64_t rest_ticks = 0;         ///< of the next offer
  unsigned in_full = 0;                 ///< so many of its next answers offer all private tasks
  std::uint64_t task_ticks = unknown;   ///< of each task that it took, of late
  std::int64_t began_ns = long_ago_ns;  ///< when it pushed first in its latest activation, as far as it has looked
  void activation_begins() noexcept override { began = true; }
  void activation_ended() noexcept override { deque.next_epoch(); }

  /// Owner. It is about to offer tasks.
  void begin_rest() noexcept {
    if (!may_rest) return;
    offered_at = platform::ticks();
    const std::uint64_t until = rest_ticks != 0 ? offered_at + rest_ticks : 0;
    // relaxed: a hint; an older value makes a thief come early, or late.
    if (rests_until.load(std::memory_order_relaxed) != until) rests_until.store(until, std::memory_order_relaxed);
  }
  /// Owner. It has come to the join of a task that it had offered: whether the next offer rests. Are there others on its
  /// stack that nobody has taken?
  void choose_rest(bool others_left) noexcept {
    if (!may_rest) return;
    const std::uint64_t most = platform::offer_rest_ticks();
    // Those that are left are older, and so have more below them.
    rest_ticks = !others_left && platform::ticks() - offered_at < most ? most : 0;
  }
  /// Any thread. For so many ticks thieves are to leave the offer alone.
  [[nodiscard]] std::uint64_t rest_left() const noexcept {
    const std::uint64_t until = rests_until.load(std::memory_order_relaxed);
    if (until == 0) return 0;
    const std::uint64_t left = until - platform::ticks();
    return left < platform::ticks_of_some_us() ? left : 0;  // nobody waits because clocks differ
  }
};

lace::lace(std::unique_ptr<victim_selector> victims, std::unique_ptr<join_strategy> joins, theft takes)
    : stealing_policy(std::move(victims), std::move(joins)), takes_(takes) {}

lace::shared_part& lace::shared_part_of(const worker& w) noexcept { return static_cast<shared_part&>(*w.offered); }

std::unique_ptr<offer> lace::make_offer() const { return std::make_unique<shared_part>(takes_ == theft::some); }

std::uint32_t lace::private_tasks(const worker& w) noexcept {
  slot* const head = w.head.load();
  slot* const split = w.split.load();
  return head <= split ? 0 : static_cast<std::uint32_t>(head - split);
}

std::uint32_t lace::shared_tasks(const worker& w) noexcept {
  const auto seen = shared_part_of(w).deque.load();
  return seen.something_shared() ? seen.shared() : 0;
}

bool lace::offers_all(shared_part& part, std::int64_t now_ns, std::int64_t asked_ns) noexcept {
  if (std::exchange(part.began, false)) {
    // Not where activations are short: there somebody will ask soon.
    if (now_ns - std::exchange(part.began_ns, now_ns) > late_ns) {
      part.in_full = std::max(part.in_full, platform::first_offers());
    }
  } else if (!part.looked && asked_ns != 0 && now_ns - asked_ns > late_ns) {
    part.in_full = answers_after_late;
  }
  return part.in_full != 0;
}

void lace::answer(worker& w) noexcept { answer(w, offered_parts::all); }

void lace::answer(worker& w, offered_parts what) noexcept {
  shared_part& part = shared_part_of(w);
  if (part.all_stolen) w.pass_empty();
  // [AT7] relaxed: before the offer that a thief takes, which releases it.
  if (part.next_wanted.load(std::memory_order_relaxed)) part.next_wanted.store(false, std::memory_order_relaxed);
  const bool offers_tasks = what == offered_parts::all || what == offered_parts::of_tasks;
  const bool offers_loops = what == offered_parts::all || what == offered_parts::of_loops;
  const std::uint32_t tasks = offers_tasks ? private_tasks(w) : 0;
  const std::int64_t now_ns = tasks != 0 ? platform::now_ns() : 0;
  const std::int64_t asked_ns = w.asked.since_ns.load(std::memory_order_relaxed);  // [IN1]
  const bool all = tasks != 0 && offers_all(part, now_ns, asked_ns);
  work_share* const f = offers_loops ? giver(w, giving_order::oldest) : nullptr;
  unsigned parts = 0;
  // Where all is offered, one piece at a time: attention stays raised, and each push comes here.
  if (f != nullptr && (tasks == 0 || f->head <= w.split.load()) && (!all || w.pieces.count_offered(1) == 0)) {
    parts = give_halves(w, *f, std::max(w.common.sleepers.about_idle(w), 1U));
  }
  if (parts != 0) w.count(&counters::offers);
  // Anew: a task that splits may fork.
  if (const std::uint32_t left = private_tasks(w); left != 0 && (all || parts == 0) && offers_tasks) {
    const std::uint32_t shared = all ? left : part.all_stolen ? 1 : left - kept_of(w, left);
    share(w, shared);
    parts = std::max(parts, std::min(shared, sleepers::most_woken));
    // The oldest first. But the tasks may be small, and the chunks of a younger loop long: it is not to wait for its turn where
    // more want something than there are tasks, or where whoever is through with those would wait for its next chunk.
    if (f != nullptr && !all) {
      const std::uint32_t idle = w.common.sleepers.about_idle(w);
      const bool slow = asked_ns != 0 && now_ns - asked_ns > slow_ns;
      if (slow || idle > shared) parts += give_halves(w, *f, slow ? idle : idle - shared);
    }
  }
  part.looked = parts == 0;
  if (parts == 0) {
    w.note_nothing();
    return;  // attention stays raised, the next push or chunk comes here again
  }
  if (all && --part.in_full != 0) {
    w.look_again(now_ns);
  } else {
    // After the offer: a request that is lost here came from a thief that had not seen the offer. It looks again before
    // it sleeps, and then sees the offer or is woken for it; see docs/protocols/sleep.md.
    w.calm();
    // [AT6] seq_cst: a thief that took all of it before that, and found attention raised still ([AT2]), has asked for
    // the next in vain. One of the two sees the other's change. Found by lace_next_on_offer.
    if (part.next_wanted.load(std::memory_order_seq_cst)) w.raise();
  }
  w.common.sleepers.offered(w, parts, takers::thieves, f == nullptr && shared_tasks(w) == 1);
}

void lace::offer_tasks(worker& w) noexcept {
  if (const std::uint32_t tasks = private_tasks(w); tasks != 0) share(w, tasks);
}

std::uint32_t lace::kept_of(const worker& w, std::uint32_t tasks) const noexcept {
  const bool many = tasks > thefts_per_worker * static_cast<std::uint32_t>(w.common.team.size());
  return takes_ == theft::some && many ? tasks / (std::max(w.common.sleepers.about_idle(w), 1U) + 1) : tasks / 2;
}

bool lace::is_wanted(const worker& w) noexcept {
  return shared_tasks(w) == 0 || w.asked.since_ns.load(std::memory_order_relaxed) != 0 ||  // [IN1]
         shared_part_of(w).next_wanted.load(std::memory_order_relaxed);                    // [AT7]
}

void lace::share(worker& w, std::uint32_t count) noexcept {
  shared_part& part = shared_part_of(w);
  part.begin_rest();
  const auto from = w.index_of(w.split.load());
  const auto until = from + count;
  for (auto i = from; i < until; ++i) {
    // [TS0] relaxed: published with the slot.
    w.base[i].state.store(task_state{}.pack(), std::memory_order_relaxed);
  }
  w.set_split(w.base + until);
  if (part.all_stolen) {
    part.all_stolen = false;
    part.deque.share_first(from);
    if (count > 1) part.deque.grow(until);
  } else {
    part.deque.grow(until);
    w.count(&counters::grows);
  }
  w.count(&counters::offers);
}

bool lace::reclaim(worker& w, slot& s) noexcept {
  shared_part& part = shared_part_of(w);
  bool reclaimed = false;
  bool others_left = false;
  if (!part.all_stolen) {
    deque::split_deque::index split = 0;
    switch (part.deque.shrink(w.index_of(&s), split, part.in_full != 0)) {
      case deque::split_deque::shrunk::reclaimed:
        w.count(&counters::shrinks);
        w.set_split(w.base + split);
        reclaimed = true;
        others_left = w.base + split != &s || part.deque.load().something_shared();
        break;
      case deque::split_deque::shrunk::all_stolen:
        if (w.base + split == w.head.load()) set_all_stolen(w, part, split);
        break;
      case deque::split_deque::shrunk::taken:
        break;
    }
  }
  part.choose_rest(others_left);
  // Whoever searches, and waits now, would ask too late for the next one, which may be long.
  if (reclaimed && part.rest_ticks != 0 && w.common.sleepers.somebody_searches(w.number)) w.raise();
  return reclaimed;
}

void lace::rejoin(worker& w, slot& s) noexcept {
  // Every older task is stolen too; what was made while waiting is gone.
  shared_part& part = shared_part_of(w);
  w.head.store(&s);
  w.set_split(&s);
  set_all_stolen(w, part, w.index_of(&s));
}

void lace::set_all_stolen(worker& w, shared_part& part, std::uint32_t head) noexcept {
  part.all_stolen = true;
  part.deque.set_all_stolen(head);
  part.began = true;
  w.raise();
}

steal_result lace::take_task(worker& thief, worker& victim, const lineage* only) noexcept {
  shared_part& part = shared_part_of(victim);
  auto seen = part.deque.load();
  if (!seen.something_shared() || !may_take(victim, seen.tail, only)) return {};
  if (const std::uint64_t left = part.rest_left(); left != 0) {
    if (only != nullptr) return {.later = true};  // what it waits for may be over
    pause_for(left);                              // each look takes the line from the owner
    seen = part.deque.load();
    if (!seen.something_shared()) return {};
    if (part.rest_left() != 0) return {.later = true};
  }
  using index = deque::split_deque::index;
  index count = 1;
  if (takes_ == theft::half) {
    // All but one become proxies on the thief's stack, where there has to be room.
    count = std::min((seen.shared() + 1) / 2, static_cast<index>(thief.end - thief.head.load()) + 1);
  } else if (takes_ == theft::some) {
    const std::uint64_t workers = victim.common.team.size();
    const std::uint64_t worth = ticks_per_worker() / std::max<std::uint64_t>(shared_part_of(thief).task_ticks, 1);
    const std::uint64_t most =
        std::clamp<std::uint64_t>(worth, seen.shared() / (thefts_per_worker * workers), seen.shared() / workers);
    const auto wanted =
        static_cast<index>(std::clamp<std::uint64_t>(std::min(workers * worth, most), 1, seen.shared()));
    count = platform::taken_at_once(wanted, seen.shared());
  }
  if (!part.deque.take(seen, count)) return {};
  return {.victim = &victim, .first = victim.base + seen.tail, .count = count, .kept = takes_ == theft::some};
}

bool lace::shows_task(const worker& victim, const lineage* only) const noexcept {
  const auto seen = shared_part_of(victim).deque.load();
  return seen.something_shared() && may_take(victim, seen.tail, only);
}

void lace::stolen_from(worker& victim) noexcept {
  // So that what it pushes next is on offer, should it be long. Who sleeps pushes nothing, and looks when it is asked.
  // Where thefts are frequent somebody will ask soon, and asking for each would cost more than it brings.
  if (victim.wait.dozing.load(std::memory_order_relaxed) || shows_anything(victim)) return;
  shared_part& part = shared_part_of(victim);
  const std::int64_t now_ns = platform::now_ns();
  // relaxed: a hint.
  const std::int64_t before_ns = part.emptied_ns.load(std::memory_order_relaxed);
  part.emptied_ns.store(now_ns, std::memory_order_relaxed);
  if (now_ns - before_ns <= late_ns) return;
  part.next_wanted.store(true, std::memory_order_seq_cst);  // [AT6]
  victim.ask();
}

void lace::ran(worker& w, std::uint32_t tasks, std::uint64_t ticks) noexcept {
  std::uint64_t& known = shared_part_of(w).task_ticks;
  const std::uint64_t each = ticks / tasks;
  known = known == unknown ? each : std::max(each, known / 2 + each / 2);  // what is long counts at once
}

bool lace::shows_anything(const worker& w) const noexcept { return shows_task(w, nullptr) || w.pieces.oldest(0); }

std::uint32_t lace::taken_end(const worker& victim) const noexcept { return shared_part_of(victim).deque.load().tail; }

}  // namespace filch::detail
