#include "worker/stand_in.hpp"

#include <utility>

#include "worker/policy.hpp"
#include "worker/sleepers.hpp"
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

worker* with_open_inbox(const common_parts& common) noexcept {
  if (!common.spares.are_needed()) return nullptr;
  for (std::uint32_t i = 0; i < common.team.size(); ++i) {
    worker& w = common.team[i];
    if (w.box.has_task() && !w.is_available()) return &w;
  }
  return nullptr;
}

void open_inbox(worker& w) noexcept {
  sleepers& asleep = w.common.sleepers;
  if (w.common.spares.are_needed() && w.box.has_task()) asleep.offered(w, 1, takers::anybody);
}

void wake_waiters(const common_parts& common) noexcept {
  for (std::uint32_t i = 0; i < common.team.size(); ++i) {
    worker& w = common.team[i];
    // [SP9] seq_cst: after [SP7]; pairs with [AT4], after which a waiter looks whether anybody is blocked: one of the two sees the
    // other. No exploration catches this: the look whether anybody is available ([SP6]) mostly comes to that waiter before.
    if (w.wait.dozing.load(std::memory_order_seq_cst)) w.parker.unpark();
  }
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
    const bool is_first = w->common.spares.count_blocked();
    w->blocked.in_its_place = w->common.spares.begin(*w);
    const busy_section here(*w);
    if (is_first) {
      w->common.policy.begin_blocked(*w);
      if (with_open_inbox(w->common) != nullptr) w->common.sleepers.offered(*w, 1, takers::anybody);
    } else {
      open_inbox(*w);
    }
  }
}

void unblock(worker* innermost) noexcept {
  for (worker* w = innermost; w != nullptr; w = w->outer) {
    // relaxed: who sees it late takes this worker for one that is not available, and begins a thread too many.
    const std::uint32_t around = w->blocked.regions.load(std::memory_order_relaxed) - 1;
    w->blocked.regions.store(around, std::memory_order_relaxed);
    if (around != 0) continue;
    w->common.spares.count_unblocked();
    if (stand_in* const t = std::exchange(w->blocked.in_its_place, nullptr)) t->end();
  }
}

}  // namespace filch::detail
