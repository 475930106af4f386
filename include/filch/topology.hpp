// What machine this is, and how much of it this process may use.
#pragma once

#include <string>
#include <vector>

#include <filch/config.hpp>

namespace filch {

struct topology {
  /// One hardware thread that this process may run on.
  struct core_info {
    int package = 0;
    int numa_node = 0;
    int l3 = 0;
    int core = 0;
    int cpu = 0;
  };
  std::vector<core_info> cpus;
  int usable_cpus = 1;    ///< hardware threads in the affinity mask
  double quota_cpus = 0;  ///< the cgroup's CPU quota in processors; 0: none
  int usable_workers =
      1;  ///< what `workers = 0` means: the affinity mask and the quota (rounded up), whichever is less
  int packages = 1;
  int numa_nodes = 1;
  int cores = 1;
  std::string source;  ///< "hwloc" or "sysfs"
  std::string model;   ///< name of the processor
};

/// Looks at the machine anew; takes about a millisecond.
FILCH_API topology discover_topology();

}  // namespace filch
