#include "victim/random_victim.hpp"

#include "worker/team.hpp"

namespace filch::detail {

worker* random_victim::choose(worker& thief) const noexcept {
  const std::uint64_t others = thief.common.team.size() - 1;
  if (others == 0) return nullptr;
  // Upper bits scaled to the range: no division, and no bias worth speaking of below 2^16 workers.
  const auto drawn = static_cast<std::uint32_t>(((thief.random() >> 32) * others) >> 32);
  return &thief.common.team[drawn < thief.number ? drawn : drawn + 1];
}

}  // namespace filch::detail
