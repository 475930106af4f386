#include "victim/hierarchical_victim.hpp"

#include "worker/team.hpp"

namespace filch::detail {
namespace {

using interval = near_part::interval;

interval of_level(const worker& w, platform::group_level level, std::uint32_t team_size) noexcept {
  const team& all = w.common.team;
  interval found{w.number, w.number + std::uint32_t{1}};
  while (found.begin > 0 && all[found.begin - 1].location.shares(level, w.location)) --found.begin;
  while (found.end < team_size && all[found.end].location.shares(level, w.location)) ++found.end;
  return found;
}

near_part find_near(const worker& w, std::uint32_t team_size) noexcept {
  near_part near{.team_size = team_size};
  std::uint32_t seen = 1;  // the worker itself
  for (std::size_t i = 0; i < platform::group_levels; ++i) {
    const interval found = of_level(w, static_cast<platform::group_level>(i), team_size);
    if (found.end - found.begin == seen) continue;
    seen = found.end - found.begin;
    near.levels[near.count++] = found;
  }
  return near;
}

}  // namespace

worker* hierarchical_victim::choose(worker& thief) const noexcept {
  const std::uint32_t workers = thief.common.team.size();
  // Where a worker is never changes; which guests take part does.
  near_part& near = thief.near;
  if (near.team_size != workers) near = find_near(thief, workers);
  // After so many levels in vain.
  const std::uint32_t level = thief.search.next_attempt() / attempts_;
  const interval in = level < near.count ? near.levels[level] : interval{0, workers};
  return draw_other(thief, in.begin, in.end);
}

}  // namespace filch::detail
