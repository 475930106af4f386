#include "places_configuration.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filch_options.hpp"
#include "option_value.hpp"

namespace filch::cli {
namespace {

constexpr int most_tasks_per_shipment = 5;

constexpr std::string_view policy_option = "--places-policy";
constexpr std::string_view communication_option = "--places-communication";
constexpr std::string_view shipment_option = "--places-shipment";
constexpr std::string_view acyclic_option = "--places-acyclic";

// The first of `known` is the default.
std::vector<std::string> names(const CLI::App& command, std::string_view option, const char* variable,
                               std::string_view kind, std::span<const std::string_view> known) {
  std::vector<std::string> chosen;
  if (const auto text = value_of(command, std::string{option})) {
    chosen = parse_list(option, *text);
  } else if (const char* const value = std::getenv(variable); value != nullptr && *value != '\0') {
    chosen = {value};
    kind = variable;
  } else {
    chosen = {std::string{known.front()}};
  }
  for (const std::string& each : chosen) {
    require_known(kind, each, known, fmt::format("use one of {}", fmt::join(known, ", ")));
  }
  return chosen;
}

int shipment(const CLI::App& command) {
  if (const auto text = value_of(command, std::string{shipment_option})) {
    return parse_integer(shipment_option, *text, 1, most_tasks_per_shipment);
  }
  constexpr const char* variable = "FILCH_PLACES_SHIPMENT";
  const char* const value = std::getenv(variable);
  return value == nullptr || *value == '\0' ? 1 : parse_integer(variable, value, 1, most_tasks_per_shipment);
}

}  // namespace

void add_places_options(CLI::App& command) {
  add_text(command, std::string{policy_option},
           "Workloads of places: how tasks come to places that have none: success_only, baseline, lifeline (default: "
           "success_only)",
           "P,...");
  add_text(command, std::string{communication_option},
           "Workloads of places: who looks at the network: shared: a worker that is idle; dedicated: a thread beside "
           "the workers (default: shared)",
           "C,...");
  add_text(command, std::string{shipment_option},
           "Workloads of places: tasks that one steal moves at most, 1 to 5 (default: 1)", "K");
  command.add_flag(std::string{acyclic_option})
      ->description("Workloads of places, success_only: a place never asks one that waits for its own tasks");
}

std::optional<std::string> given_places_option(const CLI::App& command) {
  for (const std::string_view option : {policy_option, communication_option, shipment_option}) {
    if (value_of(command, std::string{option})) return std::string{option};
  }
  if (is_set(command, std::string{acyclic_option})) return std::string{acyclic_option};
  return std::nullopt;
}

std::vector<places_configuration> places_configurations(const CLI::App& command,
                                                        const std::vector<configuration>& schedulers) {
  constexpr std::array<std::string_view, 3> policies{"success_only", "baseline", "lifeline"};
  constexpr std::array<std::string_view, 2> communications{"shared", "dedicated"};
  const int tasks = shipment(command);
  const bool cyclic = !is_set(command, std::string{acyclic_option});
  const auto between =
      names(command, communication_option, "FILCH_PLACES_COMMUNICATION", "communication of places", communications);
  std::vector<places_configuration> all;
  for (const std::string& policy : names(command, policy_option, "FILCH_PLACES_POLICY", "policy of places", policies)) {
    for (const std::string& communication : between) {
      for (const configuration& scheduler : schedulers)
        all.push_back({scheduler, policy, communication, tasks, cyclic});
    }
  }
  return all;
}

places::options options_of(const places_configuration& config) {
  return {.scheduler = options_of(config.scheduler),
          .policy = config.policy,
          .communication = config.communication,
          .tasks_per_shipment = config.tasks_per_shipment,
          .cyclic_steals = config.cyclic_steals};
}

std::string describe(const places_configuration& config, int places) {
  if (config.scheduler.runner == bench::runner::mpi) {
    return fmt::format("mpi with {} process{}", places, places == 1 ? "" : "es");
  }
  const int workers = config.scheduler.workers;
  return fmt::format("{}/{} with {} worker{} at {} place{}", config.policy, config.communication, workers,
                     workers == 1 ? "" : "s", places, places == 1 ? "" : "s");
}

}  // namespace filch::cli
