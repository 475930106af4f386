#include "loop/keep_offered.hpp"

#include "worker/sleepers.hpp"

namespace filch::detail {

void keep_offered(worker& w, loop_kind kind) noexcept {
  const lazy_rule rule = rule_of(kind);
  bool gave = false;
  for (unsigned offered = w.pieces.count_offered(rule.threshold); offered < rule.threshold; ++offered) {
    work_share* const f = giver(w, rule.order);
    if (f == nullptr || !give_half(w, *f)) break;
    gave = true;
  }
  if (!gave) return;
  w.count(&counters::offers);
  w.common.sleepers.offered(w);
}

}  // namespace filch::detail
