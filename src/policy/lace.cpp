#include "policy/lace.hpp"

#include <algorithm>
#include <utility>

#include "loop/carve.hpp"
#include "worker/sleepers.hpp"

namespace filch {
namespace {

/// For tasks, of which each may be all that is left to do, so many workers are woken at once at most.
constexpr unsigned most_woken = 2;

}  // namespace

struct lace::shared_part final : offer {
  alignas(64) deque::split_deque deque;
  alignas(64) bool all_stolen = true;  ///< owner's copy
  void activation_ended() noexcept override { deque.next_epoch(); }
};

lace::lace(std::unique_ptr<victim_selector> victims, std::unique_ptr<join_strategy> joins, bool steal_half)
    : stealing_policy(std::move(victims), std::move(joins)), steal_half_(steal_half) {}

lace::shared_part& lace::shared_part_of(const worker& w) noexcept { return static_cast<shared_part&>(*w.offered); }

std::unique_ptr<offer> lace::make_offer() const { return std::make_unique<shared_part>(); }

std::uint32_t lace::private_tasks(const worker& w) noexcept {
  detail::slot* const head = w.head.load();
  detail::slot* const split = w.split.load();
  return head <= split ? 0 : static_cast<std::uint32_t>(head - split);
}

std::uint32_t lace::shared_tasks(const worker& w) noexcept {
  const auto seen = shared_part_of(w).deque.load();
  return seen.something_shared() ? seen.shared() : 0;
}

void lace::answer(worker& w) noexcept {
  const std::uint32_t tasks = private_tasks(w);
  detail::loop_frame* const f = giver(w, giving_order::oldest);
  unsigned parts = 0;
  if (f != nullptr && (tasks == 0 || f->head <= w.split.load())) parts = give_halves(w, *f, w.idle.hungry());
  if (parts != 0) {
    w.count(&counters::offers);
  } else if (const std::uint32_t left = private_tasks(w); left != 0) {  // anew: a task that splits may fork
    parts = shared_part_of(w).all_stolen ? 1 : (left + 1) / 2;
    share(w, parts);
    parts = std::min(parts, most_woken);
  } else {
    w.note_nothing();
    return;  // attention stays raised, the next push or chunk comes here again
  }
  // After the offer: a request that is lost here came from a thief that had not seen the offer. It looks again before
  // it sleeps, and then sees the offer or is woken for it; see docs/protocols/sleep.md.
  w.calm();
  w.idle.offered(w, parts);
}

void lace::share(worker& w, std::uint32_t count) noexcept {
  shared_part& part = shared_part_of(w);
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

bool lace::reclaim(worker& w, detail::slot& s) noexcept {
  shared_part& part = shared_part_of(w);
  if (part.all_stolen) return false;
  deque::split_deque::index split = 0;
  switch (part.deque.shrink(w.index_of(&s), split)) {
    case deque::split_deque::shrunk::reclaimed:
      w.count(&counters::shrinks);
      w.set_split(w.base + split);
      return true;
    case deque::split_deque::shrunk::all_stolen:
      if (w.base + split == w.head.load()) {
        part.all_stolen = true;
        part.deque.set_all_stolen(split);
        w.raise();
      }
      return false;
    case deque::split_deque::shrunk::taken:
      return false;
  }
  return false;
}

void lace::rejoin(worker& w, detail::slot& s) noexcept {
  // Every older task is stolen too; what was made while waiting is gone.
  shared_part& part = shared_part_of(w);
  w.head.store(&s);
  w.set_split(&s);
  part.all_stolen = true;
  part.deque.set_all_stolen(w.index_of(&s));
  w.raise();
}

loot lace::take_task(worker& thief, worker& victim, const lineage* only) noexcept {
  shared_part& part = shared_part_of(victim);
  const auto seen = part.deque.load();
  if (!seen.something_shared()) return {};
  if (only != nullptr) {
    const auto base = victim.activations.find(only->epoch);
    if (!base || seen.tail < *base) return {};
  }
  deque::split_deque::index count = 1;
  if (steal_half_) {
    // All but one become proxies on the thief's stack, where there has to be room.
    const auto room = static_cast<deque::split_deque::index>(thief.end - thief.head.load());
    count = std::min((seen.shared() + 1) / 2, room + 1);
  }
  if (!part.deque.take(seen, count)) return {};
  return {.victim = &victim, .first = victim.base + seen.tail, .count = count};
}

bool lace::shows_task(const worker& victim) const noexcept {
  return shared_part_of(victim).deque.load().something_shared();
}

std::uint32_t lace::taken_end(const worker& victim) const noexcept { return shared_part_of(victim).deque.load().tail; }

}  // namespace filch
