// Places on the virtual machine: each is a node, a computer like the machine, connected to the others by its network.
#pragma once

#include <cstdint>
#include <functional>

#include <filch/places_options.hpp>
#include <filch/vm/simulation.hpp>

namespace filch::cli {

/// Throws std::invalid_argument when there cannot be so many.
void require_nodes(const vm::machine_description& machine, int nodes);

/// Runs main once at each place, so many in all, set up like that; each has at most so many threads. Returns how many
/// nanoseconds of work it has charged. @throws what it throws.
double run_at_nodes(const vm::machine_description& machine, std::uint64_t seed, int threads, int nodes,
                    const places::options& chosen, const std::function<void()>& main);

}  // namespace filch::cli
