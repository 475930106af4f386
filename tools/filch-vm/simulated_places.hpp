// Workloads of places on the virtual machine.
#pragma once

#include <vector>

#include "places_configuration.hpp"
#include "simulated_rows.hpp"

namespace filch::cli {

struct places_request {
  std::vector<int> places{1};
  std::vector<places_configuration> configurations{};
};

/// As simulate(), but for the serial run, which is left out: trees for many places are too large for one. A row for each
/// number of places, too.
bool simulate_places(const simulation_request& request, const places_request& places, const workload_choice& choice,
                     std::vector<result_row>& rows);

}  // namespace filch::cli
