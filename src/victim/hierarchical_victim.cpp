#include "victim/hierarchical_victim.hpp"

#include "worker/team.hpp"

namespace filch::detail {
namespace {

/// Workers [begin, end). Those of one group have consecutive numbers.
struct neighbours {
  std::uint32_t begin;
  std::uint32_t end;
};

neighbours of_level(const worker& w, platform::group_level level) noexcept {
  const team& all = w.common.team;
  const std::uint32_t size = all.size();
  neighbours found{w.number, w.number + std::uint32_t{1}};
  while (found.begin > 0 && all[found.begin - 1].location.shares(level, w.location)) --found.begin;
  while (found.end < size && all[found.end].location.shares(level, w.location)) ++found.end;
  return found;
}

/// Where a worker looks after so many levels in vain.
neighbours nearest(const worker& w, std::uint32_t levels) noexcept {
  std::uint32_t seen = 1;  // the worker itself
  for (std::size_t i = 0; i < platform::group_levels; ++i) {
    const neighbours found = of_level(w, static_cast<platform::group_level>(i));
    if (found.end - found.begin == seen) continue;
    seen = found.end - found.begin;
    if (levels-- == 0) return found;
  }
  return {0, w.common.team.size()};
}

}  // namespace

worker* hierarchical_victim::choose(worker& thief) const noexcept {
  const neighbours in = nearest(thief, thief.search.next_attempt() / attempts_);
  return draw_other(thief, in.begin, in.end);
}

}  // namespace filch::detail
