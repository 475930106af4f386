// Measures workloads of places, at all places at the same time.
#pragma once

#include <vector>

#include "place_session.hpp"
#include "places_configuration.hpp"
#include "result_row.hpp"
#include "sampler.hpp"
#include "workload_choice.hpp"

namespace filch::cli {

/// All places call this together. Appends a row for each configuration, the same at each place; the time of a run is that
/// of the slowest place. False: some run gave a wrong result, which has a line on stderr, of place 0, and no row.
bool measure_at_places(const workload_choice& choice, const std::vector<places_configuration>& configurations,
                       const sampling_options& options, place_session& all, std::vector<result_row>& rows);

}  // namespace filch::cli
