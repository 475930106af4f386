// Options of places, with what the environment says and defaults filled in.
#pragma once

#include <string>

#include <filch/config.hpp>
#include <filch/places_options.hpp>

#include "places/steal_protocol.hpp"

namespace filch::detail::places {

// All throw std::invalid_argument for bad values; the message names the value and the remedy.

[[nodiscard]] bool is_dedicated(const filch::places::options& chosen);
/// Computation workers of a place whose processors so many places share.
[[nodiscard]] int workers_of(const filch::places::options& chosen, int sharers);
[[nodiscard]] FILCH_API std::string policy_of(const filch::places::options& chosen);
[[nodiscard]] steal_site::settings settings_of(const filch::places::options& chosen, int workers);

}  // namespace filch::detail::places
