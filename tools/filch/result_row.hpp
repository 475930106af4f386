// One line of a report: a workload under one runtime, summed up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <filch/places_options.hpp>
#include <filch/statistics.hpp>

#include "configuration.hpp"
#include "estimate.hpp"
#include "places_configuration.hpp"
#include "sampler.hpp"
#include "workload_choice.hpp"

namespace filch::cli {

/// What a computation is made of, and what that says about its time with private deques (docs/simulation.md).
struct computation_bound {
  double work_s;
  double span_s;
  std::uint64_t branching_depth;
  std::optional<double> delay_s{};  ///< of communication, as measured; policies with private deques only
  std::optional<double> bound_s{};  ///< on the expected time; only where the model applies
};

/// Where a simulated row was run.
struct simulated_on {
  std::string machine;
  std::string numa;                            ///< where the pages of data are: "first_touch" or "interleave"
  double communication_factor;                 ///< by which communication is slower than on that machine
  std::optional<computation_bound> bounded{};  ///< if that was asked for
};

/// What the workers of all places did on the virtual machine, in nanoseconds; sums over runs and workers.
struct worker_time {
  double all_ns = 0;
  double charged_ns = 0;  ///< of this, the program's work
};

/// Where a row of a workload of places was run; the row's `config` is that of each place's scheduler.
struct run_at_places {
  int places;
  places_configuration config;
  places::counts counted{};  ///< sums over all runs and places
  std::optional<worker_time> time{};
  std::vector<double> seconds{};  ///< of each run
};

struct result_row {
  std::string workload;
  std::string size;
  configuration config;
  double seconds_median;
  double seconds_min;
  std::size_t runs;
  std::uint64_t tasks;
  double ratio_to_serial;  ///< NaN, as its interval: no serial run was made
  interval ratio_interval;
  std::string result;
  std::optional<statistics> counters;       ///< sums over all runs
  std::optional<simulated_on> simulated{};  ///< all seconds are virtual ones
  std::optional<run_at_places> at{};

  /// Nothing when the workload spawns no tasks at this size.
  std::optional<double> ns_per_task() const;
};

/// `taken` holds at least one sample.
result_row make_result_row(const workload_choice& choice, std::uint64_t tasks, const configuration& config,
                           const samples& taken);

/// Of a workload of places. `seconds`: of at least one run.
result_row make_places_row(const workload_choice& choice, std::uint64_t tasks, const places_configuration& config,
                           int places, const std::vector<double>& seconds, const std::string& result,
                           const places::counts& counted);

}  // namespace filch::cli
