// Rows of experiments that are measured on the real processors of this machine.
#pragma once

#include <string>
#include <vector>

#include "configuration.hpp"
#include "result_row.hpp"

namespace filch::cli {

/// Runs the workload ("fib:34") under every configuration, so many times each and in turns, and gives a row for each.
/// Of configurations of filch's the policy counts, each of which is there once, and the interval of deals. `workers`: a
/// number, or "all". Throws std::runtime_error when 'filch bench' fails.
std::vector<result_row> native_rows(const std::string& workload, const std::vector<configuration>& configurations,
                                    const std::string& workers, int runs);

}  // namespace filch::cli
