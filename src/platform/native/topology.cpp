#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <string>
#include <utility>

#include <sched.h>

#include <filch/topology.hpp>

#include "platform/affinity.hpp"
#include "platform/cgroup.hpp"
#include "platform/usable.hpp"

namespace filch {
namespace {

std::string processor_model() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const auto colon = line.find(": ");
    if (colon != std::string::npos && line.starts_with("model name")) return line.substr(colon + 2);
  }
  return "unknown";
}

/// Of that many hardware threads, with that quota, 0: none.
int workers_on(int cpus, double quota_cpus) {
  return quota_cpus > 0 ? std::clamp(static_cast<int>(std::ceil(quota_cpus)), 1, cpus) : cpus;
}

int count_of(const std::vector<int>& cpus) { return std::max(1, static_cast<int>(cpus.size())); }

}  // namespace

namespace platform {

int usable_workers() { return workers_on(count_of(affinity()), cgroup_quota()); }

std::vector<int> affinity() {
  std::vector<int> cpus;
  if (const affinity_mask* const mask = affinity_mask::before_binding()) {
    for (int cpu = 0; cpu < affinity_mask::most_processors; ++cpu) {
      if (mask->has(cpu)) cpus.push_back(cpu);
    }
    return cpus;
  }
  // The mask's size is the kernel's choice: enlarge until it fits.
  for (int most = 1024; most <= (1 << 20); most *= 2) {
    cpu_set_t* const set = CPU_ALLOC(static_cast<std::size_t>(most));
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(most));
    const bool fits = set != nullptr && sched_getaffinity(0, bytes, set) == 0;
    for (int cpu = 0; fits && cpu < most; ++cpu) {
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, set)) cpus.push_back(cpu);
    }
    CPU_FREE(set);
    if (fits) break;
  }
  return cpus;
}

}  // namespace platform

topology discover_topology() {
  topology found;
  const std::vector<int> cpus = platform::affinity();
  platform::locate(cpus, found);
  found.usable_cpus = count_of(cpus);
  found.quota_cpus = platform::cgroup_quota();
  found.usable_workers = workers_on(found.usable_cpus, found.quota_cpus);
  std::set<int> packages;
  std::set<int> nodes;
  std::set<std::pair<int, int>> cores;
  for (const auto& cpu : found.cpus) {
    packages.insert(cpu.package);
    nodes.insert(cpu.numa_node);
    cores.emplace(cpu.package, cpu.core);
  }
  found.packages = std::max(1, static_cast<int>(packages.size()));
  found.numa_nodes = std::max(1, static_cast<int>(nodes.size()));
  found.cores = std::max(1, static_cast<int>(cores.size()));
  found.model = processor_model();
  return found;
}

}  // namespace filch
