#include "worker/stand_in.hpp"

#include <utility>

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
    w->blocked.in_its_place = w->common.spares.begin();
  }
}

void unblock(worker* innermost) noexcept {
  for (worker* w = innermost; w != nullptr; w = w->outer) {
    if (--w->blocked.regions != 0) continue;
    if (stand_in* const t = std::exchange(w->blocked.in_its_place, nullptr)) t->end();
  }
}

}  // namespace filch::detail
