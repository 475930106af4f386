// How workloads of places are run: a scheduler at each place, and what is between the places.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/App.hpp>

#include <filch/places_options.hpp>

#include "configuration.hpp"

namespace filch::cli {

struct places_configuration {
  configuration scheduler{};  ///< of each place
  std::string policy{};       ///< "success_only", "baseline" or "lifeline"
  std::string communication{};
  int tasks_per_shipment = 1;
  bool cyclic_steals = true;  ///< success_only: a place may ask one that waits for its tasks

  bool operator==(const places_configuration&) const = default;
};

/// Adds --places-policy, --places-communication, --places-shipment and --places-acyclic.
void add_places_options(CLI::App& command);

/// The first of these that is given; nothing: none is.
std::optional<std::string> given_places_option(const CLI::App& command);

/// Every scheduler with every policy and communication that is asked for; what is left out is as the environment says, or
/// as filch has it. Throws std::invalid_argument for unknown names and bad numbers.
std::vector<places_configuration> places_configurations(const CLI::App& command,
                                                        const std::vector<configuration>& schedulers);

places::options options_of(const places_configuration& config);

/// For messages: "success_only/shared with 2 workers at 4 places".
std::string describe(const places_configuration& config, int places);

}  // namespace filch::cli
