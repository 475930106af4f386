#include "result_row.hpp"

#include <algorithm>
#include <limits>

namespace filch::cli {

std::optional<double> result_row::ns_per_task() const {
  if (tasks == 0) {
    return std::nullopt;
  }
  return seconds_median * 1e9 / static_cast<double>(tasks);
}

result_row make_result_row(const workload_choice& choice, std::uint64_t tasks, const configuration& config,
                           const samples& taken) {
  return {.workload = choice.workload->name,
          .size = choice.size,
          .config = config,
          .seconds_median = median(taken.seconds),
          .seconds_min = std::ranges::min(taken.seconds),
          .runs = taken.seconds.size(),
          .tasks = tasks,
          .ratio_to_serial = median(taken.ratios),
          .ratio_interval = median_interval(taken.ratios),
          .result = taken.result,
          .counters = taken.counters};
}

result_row make_places_row(const workload_choice& choice, std::uint64_t tasks, const places_configuration& config,
                           int places, const std::vector<double>& seconds, const std::string& result,
                           const places::counts& counted) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  return {.workload = choice.workload->name,
          .size = choice.size,
          .config = config.scheduler,
          .seconds_median = median(seconds),
          .seconds_min = std::ranges::min(seconds),
          .runs = seconds.size(),
          .tasks = tasks,
          .ratio_to_serial = none,
          .ratio_interval = {none, none},
          .result = result,
          .counters = std::nullopt,
          .at = run_at_places{.places = places, .config = config, .counted = counted, .seconds = seconds}};
}

}  // namespace filch::cli
