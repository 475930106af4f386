// One run of a workload on a virtual machine: a pure function of what is asked for.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include <filch/places_options.hpp>
#include <filch/statistics.hpp>
#include <filch/vm/simulation.hpp>

#include "configuration.hpp"
#include "span.hpp"
#include "workload.hpp"

namespace filch::cli {

/// What a run gives. Plain bytes, because it travels from process to process.
struct run_outcome {
  double seconds = 0;  ///< virtual
  statistics counters{};
  places::counts counted{};          ///< of workloads of places, over all of these
  double charged_ns = 0;             ///< of these, work
  bench::computation computation{};  ///< of runner `analysed`
  bool is_filch = false;
  bool is_right = false;
  std::array<char, 160> result{};
  std::array<char, 320> error{};  ///< empty: none
};

/// Seconds of virtual time that the instance's run takes; called inside of the runner.
double time_simulated(bench::instance& instance, bench::runner on);

/// Long enough for all workers to have begun to search, short enough for none to fall asleep.
inline constexpr double gather_ns = 10'000;

/// Stores an outcome's text, cut off where there is no more room.
template <std::size_t Size>
void store_text(const std::string& text, std::array<char, Size>& to) {
  std::copy_n(text.begin(), std::min(text.size(), Size - 1), to.begin());
}

/// Runs the workload once and verifies it. Errors are part of the outcome. Virtual workers are awake and searching when
/// the run begins.
run_outcome run_simulated(const vm::machine_description& machine, std::uint64_t seed, const configuration& config,
                          bench::instance& instance);

/// The settings with what was left open filled in, as the library does it. Throws std::invalid_argument when it refuses
/// them.
configuration resolved(const vm::machine_description& machine, configuration config);

}  // namespace filch::cli
