#include "policy/constrained.hpp"

#include <utility>

#include "worker/task_trace.hpp"
#include "worker/team.hpp"

namespace filch::detail {

constrained::constrained(std::unique_ptr<victim_selector> victims, std::unique_ptr<join_strategy> joins)
    : lace(std::move(victims), std::move(joins), theft::one) {}

void constrained::answer(worker& w) noexcept {
  const task_trace* const trace = w.place.path.trace;
  if (trace == nullptr) return lace::answer(w);
  const bool loops_have_places = trace->places_loops();
  if (trace->is_strict()) {
    lace::answer(w, loops_have_places ? offered_parts::nothing : offered_parts::of_loops);
  } else if (!w.diverts || is_wanted(w)) {
    lace::answer(w, loops_have_places ? offered_parts::of_tasks : offered_parts::all);
  }
  if (w.diverts) w.raise();  // whoever asks meanwhile is answered at the next look
}

bool constrained::acquire(worker& w) noexcept {
  if (w.run_given(w)) return true;
  // What is given to a worker that is in something else may be taken, in relaxed iterations.
  worker* const other = any_other(w);
  if (other != nullptr && w.run_given(*other)) return true;
  return lace::acquire(w);
}

bool constrained::work_visible(worker& w) noexcept {
  bool visible = lace::work_visible(w);  // which asks everybody
  for (std::uint32_t i = 0; i < w.common.team.size() && !visible; ++i) {
    visible = i != w.number && w.common.team[i].box.shows_task();
  }
  return w.box.is_filled() || visible;
}

}  // namespace filch::detail
