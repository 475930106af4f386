#include "platform/placement.hpp"

#include <sched.h>
#include <unistd.h>

#include <filch/topology.hpp>

#include "platform/hardware.hpp"
#include "platform/usable.hpp"

namespace filch::platform {

std::vector<worker_place> places_of_workers(int workers, pinning way) {
  // Who is not bound may be anywhere, and so is a neighbour of everybody. And a look at the machine takes a while.
  if (way == pinning::none) return std::vector<worker_place>(static_cast<std::size_t>(workers));
  return place_workers(hardware_of(discover_topology(), affinity()), workers, way);
}

std::uint32_t socket_of_thread(const worker_place& /*of*/) noexcept {
  // Looked up once: a machine with one memory node is not asked for each search.
  static const bool has_several = access("/sys/devices/system/node/node1", F_OK) == 0;
  unsigned processor = 0;
  unsigned node = 0;
  return has_several && getcpu(&processor, &node) == 0 ? node : 0;
}

worker_place place_of_guest(pinning way) {
  return way == pinning::none ? worker_place{} : worker_place{.groups = {no_group, no_group, no_group}};
}

}  // namespace filch::platform
