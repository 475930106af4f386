// Runs of one workload on a virtual machine, summed up as rows: what 'filch simulate' and 'filch reproduce' are made
// of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/App.hpp>

#include <filch/vm/simulation.hpp>

#include "configuration.hpp"
#include "result_row.hpp"
#include "workload_choice.hpp"

namespace filch::cli {

/// What of a machine's communication is varied: the machine as its file says, 30 % faster and 30 % slower.
inline const std::vector<double> sensitivity_factors{1.0, 0.7, 1.3};

struct simulation_request {
  vm::machine_description machine{};
  std::optional<vm::numa_policy> serial_numa{};  ///< of the serial run; none: the machine's
  std::vector<configuration> configurations{};   ///< as resolved() gives them
  std::vector<double> communication_factors{1.0};
  std::uint64_t first_seed = 1;
  int seeds = 21;
  std::size_t processes = 1;  ///< simulations at a time; changes no result
  bool bounds = false;        ///< rows have a computation_bound
};

/// The value of --processes; left out, one for each processor. Throws std::invalid_argument.
std::size_t processes_of(const CLI::App& command);

/// The policy of that name. Throws std::invalid_argument; the message says what has that value: "--numa".
vm::numa_policy numa_of(std::string_view what, const std::string& name);

/// Throws std::invalid_argument when a configuration has more workers than the machine has hardware threads.
void require_workers(const vm::machine_description& machine, const std::vector<configuration>& configurations);

/// Runs the workload serially and under every configuration, with every factor and seed, and appends a row for each
/// configuration and factor that came out right. False: there were others, too, each with a line on stderr.
bool simulate(const simulation_request& request, const workload_choice& choice, std::vector<result_row>& rows);

}  // namespace filch::cli
