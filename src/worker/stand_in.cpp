#include "worker/stand_in.hpp"

#include <filch/detail/work_share.hpp>

#include "worker/slow_path.hpp"
#include "worker/team.hpp"
#include "worker/worker.hpp"

namespace filch::detail {
namespace {

/// Has the worker anything left that it could offer?
bool has_private_work(const worker& w) noexcept {
  if (w.split.load() < w.head.load()) return true;
  for (const work_share* f = w.loops.innermost.load(); f != nullptr; f = f->outer) {
    if (f->gives && has_work(*f)) return true;
  }
  return false;
}

/// Before its worker sleeps in a task: offers what it has, so that others find it.
void offer_all(worker& w) noexcept {
  // Each answer offers half of what is private, or of a loop.
  constexpr int most_answers = 64;  // a task each, or two loops of 2^32 iterations
  for (int answers = 0; answers < most_answers && has_private_work(w); ++answers) {
    w.raise();
    attend(w);
  }
}

}  // namespace

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
    offer_all(*w);
    share_kept(*w);
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
