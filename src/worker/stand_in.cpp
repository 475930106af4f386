#include "worker/stand_in.hpp"

#include "worker/policy.hpp"
#include "worker/team.hpp"
#include "worker/worker.hpp"

namespace filch::detail {

bool nobody_is_available(const worker& of) noexcept {
  const common_parts& common = of.common;
  if (!common.spares.are_needed() || common.spares.one_comes()) return false;
  for (std::uint32_t i = 0; i < common.team.size(); ++i) {
    if (common.team[i].is_available()) return false;
  }
  return true;
}

void share_kept(worker& w) noexcept {
  if (w.kept != nullptr) w.common.spares.hand_over_kept(w);
}

void block(worker* innermost) noexcept {
  for (worker* w = innermost; w != nullptr; w = w->outer) {
    {
      const busy_section here(*w);
      w->common.policy.offer_all(*w);
      share_kept(*w);
    }
    const std::uint32_t around = w->blocked.regions.load(std::memory_order_relaxed);
    w->blocked.regions.store(around + 1, std::memory_order_relaxed);  // published by [SP7]
    if (around != 0) continue;                                        // somebody is in its place
    stand_ins& spares = w->common.spares;
    spares.count_blocked();
    stand_in* const t = spares.begin(*w);
    // [IB4] seq_cst: before the look whether anything has come ([IB2]): who brings something sees this, or is seen.
    w->blocked.in_its_place.store(t, std::memory_order_seq_cst);
    if (t != nullptr && w->box.has_task()) t->look();
  }
}

void unblock(worker* innermost) noexcept {
  for (worker* w = innermost; w != nullptr; w = w->outer) {
    // relaxed: who sees it late takes this worker for one that is not available, and begins a thread too many.
    const std::uint32_t around = w->blocked.regions.load(std::memory_order_relaxed) - 1;
    w->blocked.regions.store(around, std::memory_order_relaxed);
    if (around != 0) continue;
    w->common.spares.count_unblocked();
    // [IB4] relaxed: who sees it late wakes somebody for nothing.
    stand_in* const t = w->blocked.in_its_place.load(std::memory_order_relaxed);
    w->blocked.in_its_place.store(nullptr, std::memory_order_relaxed);
    if (t != nullptr) t->end();
  }
}

}  // namespace filch::detail
