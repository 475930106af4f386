#include "join/random_join.hpp"

#include "worker/team.hpp"

namespace filch {

loot random_join::find(taker& from, worker& w, lineage awaited) const noexcept {
  if (const loot found = from.take(w, w.common.team[awaited.thief], &awaited)) return found;
  return from.take_any(w);
}

}  // namespace filch
