// Runs a program at one place: what is between the network, which filch::places has, and the program.
#pragma once

#include <functional>

#include <filch/config.hpp>
#include <filch/places_options.hpp>

namespace filch::detail::places {

class network;

/// Runs main on the calling thread, as this place's; returns its result when the mains of all places have returned.
/// @throws std::invalid_argument for bad options; what main throws, at once.
FILCH_API int run_place(network& over, const filch::places::options& chosen, const std::function<int()>& main);

}  // namespace filch::detail::places
