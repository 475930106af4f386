#include "policy/stealing_policy.hpp"

#include <new>
#include <utility>

#include <filch/platform/ticks.hpp>

#include "loop/adopt.hpp"
#include "loop/carve.hpp"
#include "worker/kept_tasks.hpp"
#include "worker/sleepers.hpp"
#include "worker/stand_in.hpp"
#include "worker/team.hpp"

namespace filch::detail {
namespace {

/// What a proxy's slot holds in place of a closure.
struct proxy {
  task* original;
  worker* owner;          ///< of the original
  worker* holder;         ///< of the proxy
  std::uint64_t batched;  ///< the original's state while it waits to be run
};
static_assert(sizeof(proxy) <= closure_bytes);

}  // namespace

stealing_policy::stealing_policy(std::unique_ptr<victim_selector> victims, std::unique_ptr<join_strategy> joins)
    : victims_(std::move(victims)), joins_(std::move(joins)) {}

template <class Claimed>
bool stealing_policy::run(worker& w, const steal_result& found, Claimed claimed) noexcept {
  worker& victim = *found.victim;
  if (found.part) {
    return w.run_piece(found.part, victim, [&] {
      w.occupied();
      w.count(&counters::transactions);
      stolen_from(victim);
      claimed();
    });
  }
  w.occupied();
  stolen_from(victim);
  claimed();
  slot* const end = found.first + found.count;
  const std::uint64_t since = platform::ticks();
  const std::uint64_t batched =
      found.count == 1 ? 0 : task_state{.status = task_status::batched, .thief = w.number, .id = w.new_id()}.pack();
  const auto mark = [&](slot* from, const slot* until) {
    // [TS8] relaxed: this worker runs it; or who has got a proxy, with which comes the slot: it was shared by [SD3] or
    // [SD4], or handed on by [TR2], [CC4] or [CC5]; or with the slots through a queue.
    for (; from != until; ++from) from->state.store(batched, std::memory_order_relaxed);
  };
  if (found.count == 1 || found.kept) {
    // The oldest first: their owner, who comes to the newest first, takes those back that are not begun.
    mark(found.first + 1, end);
    kept_tasks others(w, {.first = found.first + 1, .end = end, .owner = &victim, .state = batched});
    w.run_taken(*found.first, &victim);
    others.run_all();
    ran(w, found.count, platform::ticks() - since);
    return true;
  }
  slot& newest = *(end - 1);
  mark(found.first, &newest);
  slot* const below = w.head.load();
  for (slot* original = found.first; original != &newest; ++original) {
    slot* const s = w.head.load();
    s->run.store(&run_proxy);
    s->context.store(nullptr);
    ::new (static_cast<void*>(s->closure)) proxy{original, &victim, &w, batched};
    w.head.store(s + 1);
  }
  if (w.must_attend(w.head.load())) attend(w);
  w.run_taken(newest, &victim);
  while (w.head.load() != below) {
    slot& s = *(w.head.load() - 1);
    w.head.store(&s);
    platform::signal_fence();
    if (w.split.load() > &s && join_guarded(w, s) != join_result::reclaimed) continue;
    s.run.load()(s, run_by::owner);
  }
  return true;
}

bool stealing_policy::run_found(worker& w, const steal_result& found) noexcept {
  return run(w, found, [&] {
    w.count(&counters::steals);
    w.common.sleepers.end_search(w, found.victim);
  });
}

bool stealing_policy::run_help(worker& w, const steal_result& found, work_share* adopter) noexcept {
  if (adopter == nullptr || !found.part || !is_part_of_same(*found.part.p, *adopter)) {
    return run(w, found, [&] { w.count(&counters::leaps); });
  }
  return adopt_part(w, *found.victim, found.part, *adopter);
}

bool stealing_policy::adopt_part(worker& w, worker& victim, seen_piece part, work_share& adopter) noexcept {
  if (!adopt(w, part, victim, adopter)) return false;
  w.occupied();
  w.count(&counters::leaps);
  w.count(&counters::transactions);
  stolen_from(victim);
  return true;
}

bool stealing_policy::adopt_any(worker& w, work_share& adopter) noexcept {
  worker* const victim = any_other(w);
  if (victim == nullptr) return false;
  const seen_piece part = victim->pieces.oldest(0);
  if (!part) victim->ask();
  return part && is_part_of_same(*part.p, adopter) && adopt_part(w, *victim, part, adopter);
}

void stealing_policy::offer_all(worker& w) noexcept {
  bool has_any = w.split.load() < w.head.load();
  // Half of what is left at a time, so that several find something.
  while (work_share* const f = giver(w, giving_order::oldest)) {
    if (!give_half(w, *f)) break;
    has_any = true;
    w.count(&counters::offers);
  }
  offer_tasks(w);
  if (has_any) w.common.sleepers.offered(w, sleepers::most_woken);
}

bool stealing_policy::acquire(worker& w) noexcept {
  const steal_result found = take_any(w);
  const bool ran = found && run_found(w, found);
  if (!ran) w.count(&counters::failed_steals);
  return ran;
}

bool stealing_policy::help(worker& w, lineage awaited, work_share* adopter) noexcept {
  if (!w.activations.has_room()) return false;
  if (const steal_result found = joins_->find(*this, w, awaited)) return run_help(w, found, adopter);
  return adopter != nullptr && adopts_from_anybody() && adopt_any(w, *adopter);
}

steal_result stealing_policy::take(worker& thief, worker& victim, const lineage* only) noexcept {
  const seen_piece part = victim.pieces.oldest(only != nullptr ? only->id : 0);
  // It was seen on offer, and its share is younger than the activation. If that lasts still, the share was made in it.
  if (part && (only == nullptr || victim.activations.find(only->id))) return {.victim = &victim, .part = part};
  const steal_result found = take_task(thief, victim, only);
  if (!found && !found.later) victim.ask();
  return found;
}

steal_result stealing_policy::take_any(worker& thief) noexcept {
  const worker* const hinted = thief.search.next();
  if (thief.search.is_used_up()) thief.common.sleepers.lose_track(thief);
  worker* const victim = hinted != nullptr ? &thief.common.team[hinted->number] : victims_->choose(thief);
  return victim == nullptr ? steal_result{} : take(thief, *victim, nullptr);
}

bool stealing_policy::shows_work(worker& victim, const lineage* only) const noexcept {
  if (victim.pieces.something_offered(only != nullptr ? only->id : 0) || shows_task(victim, only)) return true;
  victim.ask();
  return false;
}

bool stealing_policy::work_visible(worker& w) noexcept {
  bool visible = false;
  // Everybody is asked, also when the first shows work: the answers come while the others sleep.
  for (std::uint32_t i = 0; i < w.common.team.size(); ++i) {
    if (i != w.number && shows_work(w.common.team[i])) visible = true;
  }
  return visible;
}

bool stealing_policy::help_visible(worker& w, lineage awaited) noexcept {
  // Older tasks may be taken by others in a moment, and then those of the awaited one can be. But who is awake counts as
  // available, and while somebody is blocked that is for those alone who can go on.
  return shows_work(w.common.team[awaited.thief], w.common.spares.are_needed() ? &awaited : nullptr);
}

run_result stealing_policy::run_proxy(task& t, run_by who) {
  const proxy p = *std::launder(reinterpret_cast<proxy*>(static_cast<slot&>(t).closure));
  auto& w = static_cast<worker&>(*self);
  const busy_section here(w);
  if (who == run_by::owner) {
    w.run_batched(*p.original, *p.owner, p.batched);
    return run_result::done;
  }
  // Handed on: the proxy has served; its holder need not wait for the original.
  w.finish(t, *p.holder, run_result::done);
  w.run_batched(*p.original, *p.owner, p.batched);
  return run_result::released;
}

}  // namespace filch::detail
