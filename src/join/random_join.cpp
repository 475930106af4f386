#include "join/random_join.hpp"

#include "worker/team.hpp"

namespace filch::detail {

steal_result random_join::find(steal_source& from, worker& w, lineage awaited) const noexcept {
  if (const steal_result found = from.take(w, w.common.team[awaited.thief], &awaited)) return found;
  return from.take_any(w);
}

}  // namespace filch::detail
