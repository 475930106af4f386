// Where hardware threads are, from hwloc, which also knows machines that are described and not there (HWLOC_SYNTHETIC).
#include <memory>

#include <hwloc.h>

#include "platform/process.hpp"
#include "platform/usable.hpp"

namespace filch::platform {
namespace {

struct destroy_topology {
  void operator()(hwloc_topology_t t) const noexcept { hwloc_topology_destroy(t); }
};
using topology_handle = std::unique_ptr<hwloc_topology, destroy_topology>;

topology_handle load() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return nullptr;
  topology_handle t(raw);
  return hwloc_topology_load(raw) == 0 ? std::move(t) : nullptr;
}

int ancestor(hwloc_topology_t t, hwloc_obj_type_t type, hwloc_obj_t of) {
  const hwloc_obj_t found = hwloc_get_ancestor_obj_by_type(t, type, of);
  return found == nullptr ? 0 : static_cast<int>(found->logical_index);
}

int numa_node(hwloc_obj_t of) {
  const int first = of->nodeset == nullptr ? -1 : hwloc_bitmap_first(of->nodeset);
  return first < 0 ? 0 : first;
}

}  // namespace

void locate(const std::vector<int>& cpus, topology& found) {
  const without_fork here;
  found.source = "hwloc";
  const topology_handle t = load();
  if (t == nullptr) return;
  const bool described = hwloc_topology_is_thissystem(t.get()) == 0;
  for (hwloc_obj_t pu = nullptr; (pu = hwloc_get_next_obj_by_type(t.get(), HWLOC_OBJ_PU, pu)) != nullptr;) {
    const auto cpu = static_cast<int>(pu->os_index);
    bool usable = described;
    for (const int mine : cpus) usable = usable || mine == cpu;
    if (!usable) continue;
    found.cpus.push_back({.package = ancestor(t.get(), HWLOC_OBJ_PACKAGE, pu),
                          .numa_node = numa_node(pu),
                          .l3 = ancestor(t.get(), HWLOC_OBJ_L3CACHE, pu),
                          .core = ancestor(t.get(), HWLOC_OBJ_CORE, pu),
                          .cpu = cpu});
  }
}

}  // namespace filch::platform
