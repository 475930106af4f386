#include "estimate.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <random>
#include <vector>

namespace filch::cli {

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

double median_of_sorted(std::span<const double> sorted) {
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

}  // namespace

double median(std::span<const double> values) {
  if (values.empty()) {
    return not_a_number;
  }
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  return median_of_sorted(sorted);
}

interval median_interval(std::span<const double> values) {
  if (values.empty()) {
    return {not_a_number, not_a_number};
  }
  constexpr std::size_t resamples = 2000;
  constexpr std::size_t left_out = resamples * 25 / 1000;  // 2.5 % at each end
  std::mt19937_64 generator{20240601};
  std::uniform_int_distribution<std::size_t> any(0, values.size() - 1);
  std::vector<double> medians(resamples);
  std::vector<double> drawn(values.size());
  for (double& each : medians) {
    std::ranges::generate(drawn, [&] { return values[any(generator)]; });
    std::ranges::sort(drawn);
    each = median_of_sorted(drawn);
  }
  std::ranges::sort(medians);
  return {medians[left_out], medians[resamples - 1 - left_out]};
}

}  // namespace filch::cli
