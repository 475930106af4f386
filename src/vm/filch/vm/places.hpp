// Places on the virtual machine: one for each node of a simulation, connected by the network between the nodes.
#pragma once

#include <functional>

#include <filch/places_options.hpp>

namespace filch::vm {

/// Inside of a simulated program that every node runs: runs main at this node's place, as filch::places::run does in each
/// process of a job.
/// @return what main returns, when it has returned at all places.
/// @throws std::invalid_argument for bad options; what main throws.
int run_place(const places::options& chosen, const std::function<int()>& main);

}  // namespace filch::vm
