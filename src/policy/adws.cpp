#include "policy/adws.hpp"

#include <utility>

#include "worker/sleepers.hpp"
#include "worker/slow_path.hpp"
#include "worker/stand_in.hpp"
#include "worker/team.hpp"
#include "worker/worker_range.hpp"

namespace filch::detail {
namespace {

worker_range all_of(int workers) noexcept {
  return {.right = 0, .left = static_cast<std::uint64_t>(workers) * one_worker};
}

}  // namespace

adws::adws(std::unique_ptr<victim_selector> victims, std::unique_ptr<join_strategy> joins, int workers, bool steals)
    : lace(std::move(victims), std::move(joins), theft::one),
      steals_(steals),
      everybody_(steal_range_ref::owner_of(new steal_range(all_of(workers)))) {}

void adws::begin_root(worker& w) noexcept {
  // A guest's root is nobody's to divide: its worker has no place on the line.
  if (w.number != 0 || w.common.workers == 1) return;
  if (steals_) w.steals.enter(steal_range_ref(everybody_.get()));
  w.place.range = all_of(w.common.workers);
  w.diverts = true;
  w.raise();
}

void adws::answer(worker& w) noexcept {
  // A search is short, and ends before anything else is given; unless what is called between its constructs waits for somebody
  // who is blocked.
  if (w.diverts && !w.common.spares.are_needed()) return w.note_nothing();
  // One in each answer: who told all of them at once would keep its own work waiting for that. Not in a signal handler: to
  // tell takes a lock, and may free a range.
  if (!w.interrupt.handling) static_cast<void>(tell_next(w));
  lace::answer(w);
  if (w.telling.range) w.raise();
}

void adws::offer_all(worker& w) noexcept {
  tell_rest(w);
  lace::offer_all(w);
}

// All who sleep: they have looked, and answered, as one does while nobody is blocked.
void adws::begin_blocked(worker& w) noexcept {
  w.common.sleepers.wake_all();
  wake_waiters(w.common);
}

bool adws::may_take(const steal_range& in, const worker& thief, const worker& victim) noexcept {
  if (in.is_root()) return true;
  if (!in.contains(thief.number) || !in.contains(victim.number)) return false;
  return victim.runs_migrated.load(std::memory_order_relaxed) ? in.has_migrated_work(victim.number)
                                                              : in.has_local_work(victim.number);
}

// What a blocked worker waits for may be anywhere.
bool adws::steals(const worker& w) const noexcept { return steals_ || w.common.spares.are_needed(); }

/// Whose work it may take. Null: nobody's.
steal_range* adws::open_to(const worker& w) const noexcept {
  if (w.common.spares.are_needed()) return everybody_.get();
  if (!steals_) return nullptr;
  steal_range* const current = w.steals.get();
  return (current != nullptr ? current : everybody_.get())->outermost_active();
}

worker* adws::choose(worker& thief, const steal_range& in) const noexcept {
  if (in.is_root()) return any_other(thief);
  return in.contains(thief.number) ? draw_other(thief, in.right(), in.left() + 1) : nullptr;
}

bool adws::acquire(worker& w) noexcept {
  if (w.run_given(w)) return true;
  if (!steals(w)) return false;
  if (steal_range_ref told = w.box.told()) w.steals.enter(std::move(told));
  w.steals.forget();
  if (tell_next(w)) return false;  // else those who are idle would wait for what it begins now
  steal_range* const in = open_to(w);
  const worker* const hinted = w.search.next();
  if (w.search.is_used_up()) w.common.sleepers.lose_track(w);
  worker* victim = nullptr;
  if (in != nullptr) {
    victim = hinted != nullptr && may_take(*in, w, *hinted) ? &w.common.team[hinted->number] : choose(w, *in);
  }
  if (victim != nullptr && in->has_migrated_work(victim->number) && w.run_given(*victim)) return true;
  bool ran = false;
  if (victim != nullptr && may_take(*in, w, *victim)) {
    const steal_result found = lace::take(w, *victim, nullptr);
    // What the last worker of a range takes is taken from it again by others of the range alone.
    w.runs_migrated.store(!in->is_root() && !in->has_local_work(w.number), std::memory_order_relaxed);
    ran = found && run_found(w, found);
  }
  if (!ran) w.count(&counters::failed_steals);
  return ran;
}

bool adws::may_come(const worker& sleeper, const worker& to) const noexcept {
  const std::uint64_t reach = sleeper.reach.load(std::memory_order_seq_cst);  // [SR3]
  return to.number >= reach / one_worker && to.number < reach % one_worker;
}

bool adws::work_visible(worker& w) noexcept {
  // [SR3] seq_cst: before the look for an active range, and whether anybody is blocked; whoever activates one, or blocks, sees
  // this, or has been seen ([SR4], [SP7]). No exploration catches this: the worker would have to sleep twice, the first time
  // beside an active range.
  w.reach.store(0, std::memory_order_seq_cst);
  const steal_range* const in = open_to(w);
  if (in == nullptr) return false;
  const std::uint32_t begin = in->is_root() ? 0 : in->right();
  const std::uint32_t end = in->is_root() ? w.common.team.size() : in->left() + 1;
  // [SR3] seq_cst: before the last look, so that an offer which it overlooks finds this.
  w.reach.store(in->is_root() ? reach_of_all : begin * one_worker + end, std::memory_order_seq_cst);
  bool visible = false;  // everybody is asked, as in lace
  for (std::uint32_t i = begin; i < end; ++i) {
    worker& victim = w.common.team[i];
    if (&victim == &w) continue;
    if (in->has_migrated_work(i) && victim.box.shows_task()) visible = true;
    if (may_take(*in, w, victim) && shows_work(victim)) visible = true;
  }
  return visible;
}

steal_result adws::take(worker& thief, worker& victim, const lineage* only) noexcept {
  if (thief.steals.get() != nullptr) {
    const steal_range* const in = open_to(thief);
    if (in == nullptr || !may_take(*in, thief, victim)) return {};
  }
  return lace::take(thief, victim, only);
}

bool adws::help(worker& w, lineage awaited, work_share* adopter) noexcept {
  return steals(w) && lace::help(w, awaited, adopter);
}

bool adws::help_visible(worker& w, lineage awaited) noexcept { return steals(w) && lace::help_visible(w, awaited); }

}  // namespace filch::detail
