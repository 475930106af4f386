#include "join/leapfrog.hpp"

#include "worker/team.hpp"

namespace filch::detail {

steal_result leapfrog::find(steal_source& from, worker& w, lineage awaited) const noexcept {
  return from.take(w, w.common.team[awaited.thief], &awaited);
}

}  // namespace filch::detail
