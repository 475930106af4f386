// The hardware threads of a machine, with the groups that they form.
#pragma once

#include <vector>

#include <filch/topology.hpp>

#include "platform/placement.hpp"

namespace filch::platform {

/// Groups are numbered in the order of packages, memory nodes, caches and cores. A cache that several memory nodes share
/// counts once in each. `usable`: if the topology knows no processors, these are taken for cores of one socket.
std::vector<hardware_thread> hardware_of(const topology& machine, const std::vector<int>& usable);

}  // namespace filch::platform
