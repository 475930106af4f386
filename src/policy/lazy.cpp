#include "policy/lazy.hpp"

#include <utility>

#include "worker/sleepers.hpp"

namespace filch::detail {

lazy::lazy(std::unique_ptr<victim_selector> victims, std::unique_ptr<join_strategy> joins, lazy_rule rule,
           bool push_half)
    : lace(std::move(victims), std::move(joins), theft::one), rule_(rule), push_half_(push_half) {}

void lazy::answer(worker& w) noexcept {
  // Looks again after each offer: thieves may be that fast.
  while (shared_tasks(w) + w.pieces.count_offered(rule_.threshold) < rule_.threshold) {
    if (!offer_one(w)) return;
    w.count(&counters::offers);
    w.common.sleepers.offered(w);
  }
  // A thief that comes just before this finds attention raised and does not raise it again. The next one that finds
  // nothing asks.
  w.calm();
}

bool lazy::offer_one(worker& w) const noexcept {
  work_share* const f = giver(w, rule_.order);
  const bool loop_first =
      private_tasks(w) == 0 || rule_.order == giving_order::innermost || (f != nullptr && f->head <= w.split.load());
  if (f != nullptr && loop_first && give_half(w, *f)) return true;
  const std::uint32_t tasks = private_tasks(w);  // only now: a task that splits may fork, and offer
  if (tasks == 0) return false;
  share(w, push_half_ ? (tasks + 1) / 2 : 1);
  return true;
}

void lazy::piece_taken_back(worker& w) noexcept { w.raise(); }

void lazy::stolen_from(worker& victim) noexcept { victim.ask(); }

}  // namespace filch::detail
