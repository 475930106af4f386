#include <filch/topology.hpp>

#include "vm/world.hpp"

namespace filch {

topology discover_topology() {
  topology found;
  found.usable_cpus = platform::vm::world::current()->processors();
  found.usable_workers = found.usable_cpus;
  found.cores = found.usable_cpus;
  found.source = "virtual machine";
  found.model = "virtual machine";
  return found;
}

}  // namespace filch
