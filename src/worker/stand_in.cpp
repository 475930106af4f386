#include "worker/stand_in.hpp"

#include "worker/slow_path.hpp"
#include "worker/worker.hpp"

namespace filch::detail {
namespace {

/// Before its worker sleeps in a task: offers what it has, so that others find it.
void offer_all(worker& w) noexcept {
  // Each answer offers half of what is private, or of a loop.
  for (int answers = 0; answers < 32; ++answers) {
    w.raise();
    attend(w);
    if (w.split.load() >= w.head.load()) return;
  }
}

}  // namespace

void block(worker* innermost) noexcept {
  for (worker* w = innermost; w != nullptr; w = w->outer) {
    if (w->blocked.regions++ != 0) continue;  // already
    offer_all(*w);
    stand_in* const t = w->common.spares.begin(*w);
    // [IB4] seq_cst: before the look whether anything has come ([IB2]): who brings something sees this, or is seen.
    w->blocked.in_its_place.store(t, std::memory_order_seq_cst);
    if (t != nullptr && w->box.has_task()) t->look();
  }
}

void unblock(worker* innermost) noexcept {
  for (worker* w = innermost; w != nullptr; w = w->outer) {
    if (--w->blocked.regions != 0) continue;
    // [IB4] relaxed: who sees it late wakes somebody for nothing.
    stand_in* const t = w->blocked.in_its_place.load(std::memory_order_relaxed);
    w->blocked.in_its_place.store(nullptr, std::memory_order_relaxed);
    if (t != nullptr) t->end();
  }
}

}  // namespace filch::detail
