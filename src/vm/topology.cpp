#include <filch/topology.hpp>

#include "platform/usable.hpp"
#include "vm/world.hpp"

namespace filch {

int platform::usable_workers() { return platform::vm::world::current()->processors(); }

topology discover_topology() {
  topology found;
  found.usable_cpus = platform::usable_workers();
  found.usable_workers = found.usable_cpus;
  found.cores = found.usable_cpus;
  found.source = "virtual machine";
  found.model = "virtual machine";
  return found;
}

}  // namespace filch
