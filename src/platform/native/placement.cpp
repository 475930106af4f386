#include "platform/placement.hpp"

#include <filch/topology.hpp>

#include "platform/hardware.hpp"
#include "platform/usable.hpp"

namespace filch::platform {

std::vector<worker_place> places_of_workers(int workers, pinning way) {
  // Who is not bound may be anywhere, and so is a neighbour of everybody. And a look at the machine takes a while.
  if (way == pinning::none) return std::vector<worker_place>(static_cast<std::size_t>(workers));
  return place_workers(hardware_of(discover_topology(), affinity()), workers, way);
}

worker_place place_of_guest(pinning way) {
  return way == pinning::none ? worker_place{} : worker_place{.groups = {no_group, no_group, no_group}};
}

}  // namespace filch::platform
