// Runs jobs in processes of their own, several at a time.
//
// Every job begins as a copy of one and the same process, so that nothing of one run is left over in another: results
// are the same whatever the number of processors and the order of the jobs.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "progress_line.hpp"
#include "simulated_run.hpp"

namespace filch::cli {

/// Calls job(i) for every outcome i and stores what it returns. A job that ends its process has an error as outcome.
/// `at_once`: processes at a time. Throws std::system_error when the system has no processes or pipes left.
void run_in_processes(std::span<run_outcome> outcomes, std::size_t at_once,
                      const std::function<run_outcome(std::size_t)>& job, progress_line& progress);

}  // namespace filch::cli
