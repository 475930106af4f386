#include "native_rows.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "counters.hpp"
#include "native_bench.hpp"

namespace filch::cli {

namespace {

using nlohmann::json;

bool is_of(const json& row, const configuration& config) {
  if (row.at("runner") != runner_name(config.runner)) {
    return false;
  }
  return config.runner != bench::runner::filch || row.at("policy") == config.policy;
}

std::optional<statistics> counters_of(const json& row, std::size_t runs) {
  const json& averages = row.at("counters");
  if (averages.is_null()) {
    return std::nullopt;
  }
  statistics sum;
  for (const counter& each : counters) {
    const double total = averages.at(std::string{each.name}).get<double>() * static_cast<double>(runs);
    sum.*each.member = static_cast<std::uint64_t>(std::llround(total));
  }
  return sum;
}

result_row result_of(const json& row, configuration config) {
  config.workers = row.at("workers");
  if (config.runner == bench::runner::filch) {
    config.join = row.at("join");
    config.loop = row.at("loop");
  }
  const std::size_t runs = row.at("runs");
  return {.workload = row.at("workload"),
          .size = row.at("size"),
          .config = config,
          .seconds_median = row.at("seconds_median"),
          .seconds_min = row.at("seconds_min"),
          .runs = runs,
          .tasks = row.at("tasks"),
          .ratio_to_serial = row.at("ratio_to_serial"),
          .ratio_interval = {row.at("ratio_low"), row.at("ratio_high")},
          .result = row.at("result"),
          .counters = counters_of(row, runs)};
}

bool has_interrupt_after(const configuration& config) { return config.interrupt_after_ns.has_value(); }

}  // namespace

std::vector<result_row> native_rows(const std::string& workload, const std::vector<configuration>& configurations,
                                    const std::string& workers, int runs) {
  std::vector<std::string_view> policies;
  std::vector<std::string_view> peers{runner_name(bench::runner::serial)};
  for (const configuration& config : configurations) {
    if (config.runner == bench::runner::filch) {
      policies.push_back(config.policy);
    } else if (std::ranges::find(peers, runner_name(config.runner)) == peers.end()) {
      peers.push_back(runner_name(config.runner));
    }
  }
  std::vector<std::string> arguments{workload,
                                     "--repeat",
                                     std::to_string(runs),
                                     "--peer",
                                     fmt::format("{}", fmt::join(peers, ",")),
                                     "--policy",
                                     fmt::format("{}", fmt::join(policies, ","))};
  if (workers != "all") {
    arguments.insert(arguments.end(), {"--workers", workers});
  }
  for (const configuration& config : configurations) {
    if (config.deal_interval_ns) {
      arguments.insert(arguments.end(), {"--delta", std::to_string(*config.deal_interval_ns)});
    }
  }
  // One for all policies that it goes with.
  const auto interrupts = std::ranges::find_if(configurations, &has_interrupt_after);
  if (interrupts != configurations.end()) {
    arguments.insert(arguments.end(), {"--interrupt-after", std::to_string(*interrupts->interrupt_after_ns)});
  }
  const json report = native_bench(arguments);
  std::vector<result_row> rows;
  for (const configuration& config : configurations) {
    const json& all = report.at("rows");
    const auto found = std::ranges::find_if(all, [&](const json& row) { return is_of(row, config); });
    if (found == all.end()) {
      throw std::runtime_error(fmt::format("'filch bench' gave no row of {} on {}", workload, describe(config)));
    }
    rows.push_back(result_of(*found, config));
  }
  return rows;
}

}  // namespace filch::cli
