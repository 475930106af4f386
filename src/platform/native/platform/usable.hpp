// The platform seam: which processors the process may run on, and where they are.
#pragma once

#include <vector>

#include <filch/topology.hpp>

namespace filch::platform {

/// The most workers that a scheduler may be asked for: more would be a mistake.
inline constexpr int most_workers = 1024;

/// Numbers of the hardware threads in the affinity mask of the calling thread; while it is bound, in its mask from
/// before.
std::vector<int> affinity();

/// How many workers make sense: a hardware thread of the mask each, or what the cgroup's quota leaves of them. Without a look at
/// where they are, which takes some milliseconds.
int usable_workers();

/// Fills in where the given hardware threads are, and who said so.
void locate(const std::vector<int>& cpus, topology& found);

}  // namespace filch::platform
