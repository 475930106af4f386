// What an experiment measured, and whether its claims hold.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "estimate.hpp"
#include "reproduction.hpp"
#include "result_row.hpp"

namespace filch::cli {

/// One cell of the tables.
struct measured_point {
  std::string group;
  std::string x;
  std::string setting;
  result_row row;

  /// 1 on real processors.
  double communication_factor() const { return row.simulated ? row.simulated->communication_factor : 1; }
};

/// A claim with the values that it was judged by.
struct judged_claim {
  claim stated;
  double communication_factor;
  std::optional<double> left;
  std::optional<double> right;  ///< with the factor
  bool holds;                   ///< false where a value is missing
  std::optional<interval> around{};
};

/// `text` with each {name} replaced by its value.
std::string replaced(std::string text, const std::vector<std::pair<std::string, std::string>>& values);

/// Runs all of it, on virtual machines and on this one. False: some runs failed or were wrong, each with a line on
/// stderr, and there is no point for them. Throws std::runtime_error when there is no such machine or workload.
bool measure(const reproduction& what, const std::vector<double>& communication_factors, std::size_t processes,
             std::vector<measured_point>& points);

/// The average over a point's runs. Nothing where there is none: of a runner without counters, or where the setting
/// that the metric compares with failed. `points` are all that were measured.
std::optional<double> value_of(const compared_metric& metric, const measured_point& point,
                               const std::vector<measured_point>& points);

/// Of a metric that compares times: in which range that is, 95 %, of pairs of runs with the same seed. Nothing where runs
/// are not known one by one.
std::optional<interval> interval_of(const compared_metric& metric, const measured_point& point,
                                    const std::vector<measured_point>& points);

/// What the paper found in that place, if it says so.
const published_figure* find_published(const compared_metric& metric, const std::string& group, const std::string& x,
                                       const std::string& setting);

/// Every claim with every factor.
std::vector<judged_claim> judge(const reproduction& what, const std::vector<double>& communication_factors,
                                const std::vector<measured_point>& points);

}  // namespace filch::cli
