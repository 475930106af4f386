// What 'filch bench' found, as JSON for programs and as a table for people.
#pragma once

#include <string>
#include <vector>

#include <filch/topology.hpp>

#include "result_row.hpp"

namespace filch::cli {

/// {"machine": {...}, "rows": [{...}, ...]}. Every row has every key; what does not apply to a runner is null.
/// Ratios are null where no serial run was made, as for workloads of places; rows of those have "places",
/// "places_policy", "places_communication" and "places_shipment" as well, and as "counters" what places count.
/// Counters are averages over the runs, and sums over the places. Times in "settings" are null where the policy has no use for them.
std::string to_json(const topology& machine, const std::vector<result_row>& rows);

/// One line for the machine, an empty line, and a table.
std::string to_table(const topology& machine, const std::vector<result_row>& rows);

/// "AMD EPYC, 2 cores, 2 usable workers".
std::string summarize(const topology& machine);

}  // namespace filch::cli
