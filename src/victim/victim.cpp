#include "victim/victim.hpp"

#include "worker/team.hpp"

namespace filch::detail {

worker* draw_other(worker& thief, std::uint32_t begin, std::uint32_t end) noexcept {
  const std::uint64_t others = end - begin - 1;
  if (others == 0) return nullptr;
  const auto drawn = begin + static_cast<std::uint32_t>(((thief.random() >> 32) * others) >> 32);
  return &thief.common.team[drawn < thief.number ? drawn : drawn + 1];
}

}  // namespace filch::detail
