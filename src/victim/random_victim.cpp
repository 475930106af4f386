#include "victim/random_victim.hpp"

#include "worker/team.hpp"

namespace filch::detail {

worker* random_victim::choose(worker& thief) const noexcept { return draw_other(thief, 0, thief.common.team.size()); }

}  // namespace filch::detail
