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

/// Fills in where the given hardware threads are, and who said so.
void locate(const std::vector<int>& cpus, topology& found);

}  // namespace filch::platform
