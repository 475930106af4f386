#include "join/transitive.hpp"

#include <algorithm>

#include "worker/team.hpp"

namespace filch::detail {
namespace {

/// Workers asked in one search; bounds its time, not what it may find: the next search begins anew.
constexpr int most_asked = 64;
/// Stolen tasks of one worker looked at in one search, newest first: the newest is the one it will wait for next.
constexpr std::uint32_t most_looked_at = 64;

}  // namespace

steal_result transitive::find(steal_source& from, worker& w, lineage awaited) const noexcept {
  int budget = most_asked;
  return follow(from, w, awaited, budget);
}

steal_result transitive::follow(steal_source& from, worker& w, lineage awaited, int& budget) noexcept {
  if (--budget < 0) return {};
  worker& thief = w.common.team[awaited.thief];
  if (const steal_result found = from.take(w, thief, &awaited)) return found;

  const auto base = thief.activations.find(awaited.id);
  if (!base) return {};
  const std::uint32_t newest = from.taken_end(thief);
  const std::uint32_t oldest = std::max(*base, newest - std::min(newest, most_looked_at));
  for (std::uint32_t i = newest; i > oldest; --i) {
    // [TS7] acquire: the next activation's entry, from [TS1] or [TS5].
    const auto state = task_state::unpack(thief.base[i - 1].state.load(std::memory_order_acquire));
    if (state.status != task_status::taken || state.thief == w.number) continue;
    // The slot belonged to the awaited activation if that is active still: it was active before, and all this time
    // nothing at or above its base has been anybody else's.
    if (!thief.activations.find(awaited.id)) return {};
    if (const steal_result found = follow(from, w, {state.thief, state.id}, budget)) return found;
  }
  // Pieces of loops: of shares that are younger than the awaited activation. If that is active still, they were made in
  // it.
  steal_result found;
  thief.pieces.any_taken(
      awaited.id, [&] { return w.random(); },
      [&](lineage next) {
        if (next.thief == w.number) return false;
        if (!thief.activations.find(awaited.id)) return true;
        found = follow(from, w, next, budget);
        return static_cast<bool>(found);
      });
  return found;
}

}  // namespace filch::detail
