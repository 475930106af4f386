#include "victim/near_victim.hpp"

#include "worker/team.hpp"

namespace filch::detail {

worker* near_victim::choose(worker& thief) const noexcept {
  const std::uint32_t attempt = thief.search.next_attempt();
  if (attempt == 0) thief.note_socket();
  const std::uint32_t workers = thief.common.team.size();
  worker* drawn = draw_other(thief, 0, workers);
  if (drawn == nullptr || attempt >= near_attempts) return drawn;
  // relaxed: a hint, as where a worker says where it is.
  const std::uint32_t here = thief.socket.load(std::memory_order_relaxed);
  for (int i = 1; i < draws && drawn->socket.load(std::memory_order_relaxed) != here; ++i) {
    drawn = draw_other(thief, 0, workers);
  }
  return drawn;
}

}  // namespace filch::detail
