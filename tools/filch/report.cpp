#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "build_info.hpp"
#include "counters.hpp"
#include "json_text.hpp"
#include "places_counters.hpp"
#include "printable.hpp"
#include "text_table.hpp"

namespace filch::cli {

namespace {

using nlohmann::ordered_json;

ordered_json machine_json(const topology& machine) {
  return {{"model", machine.model},
          {"packages", machine.packages},
          {"numa_nodes", machine.numa_nodes},
          {"cores", machine.cores},
          {"usable_cpus", machine.usable_cpus},
          {"quota_cpus", machine.quota_cpus},
          {"usable_workers", machine.usable_workers},
          {"filch_version", build_info::version},
          {"compiler", build_info::compiler}};
}

ordered_json places_counters_json(const run_at_places& at, std::size_t runs) {
  const places::counts& counted = at.counted;
  const auto mean = [&](std::uint64_t sum) { return static_cast<double>(sum) / static_cast<double>(runs); };
  ordered_json result;
  for (const places_counter& each : places_counters) {
    result[each.name] = mean(counted.*each.member);
  }
  for (const std::uint64_t phases : counted.victims) {
    result[victims_counter].push_back(mean(phases));
  }
  if (at.time) {
    for (const std::string_view name : time_counters) {
      result[name] =
          time_counted_as(name, at.time->all_ns, at.time->charged_ns, counted.idle_ns) / static_cast<double>(runs);
    }
  }
  return result;
}

ordered_json counters_json(const result_row& row) {
  if (row.at && row.config.runner == bench::runner::filch) {
    return places_counters_json(*row.at, row.runs);
  }
  if (!row.counters) {
    return nullptr;
  }
  ordered_json result;
  for (const counter& each : counters) {
    result[each.name] = static_cast<double>(*row.counters.*each.member) / static_cast<double>(row.runs);
  }
  return result;
}

template <class T>
ordered_json optional_json(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

// The settings that have no column of their own.
ordered_json settings_json(const configuration& config) {
  if (config.runner != bench::runner::filch) {
    return nullptr;
  }
  return {{"steal_half", config.steal_half},
          {"push_half", config.push_half},
          {"delta_ns", optional_json(config.deal_interval_ns)},
          {"level_attempts", optional_json(config.level_attempts)},
          {"spin_ns", optional_json(config.spin_ns)},
          {"interrupt_after_ns", optional_json(config.interrupt_after_ns)},
          {"interrupt_every_ns", optional_json(config.interrupt_every_ns)},
          {"pinning", config.pinning}};
}

ordered_json row_json(const result_row& row) {
  const bool is_filch = row.config.runner == bench::runner::filch;
  const auto only_filch = [&](std::string_view text) { return is_filch ? ordered_json(text) : ordered_json(nullptr); };
  const std::optional<double> ns_per_task = row.ns_per_task();
  ordered_json json{{"workload", row.workload},
                    {"size", row.size},
                    {"runner", runner_name(row.config.runner)},
                    {"policy", only_filch(row.config.policy)},
                    {"join", only_filch(row.config.join)},
                    {"loop", only_filch(row.config.loop)},
                    {"workers", row.config.workers},
                    {"settings", settings_json(row.config)},
                    {"seconds_median", row.seconds_median},
                    {"seconds_min", row.seconds_min},
                    {"runs", row.runs},
                    {"tasks", row.tasks},
                    {"ns_per_task", optional_json(ns_per_task)},
                    {"ratio_to_serial", row.ratio_to_serial},
                    {"ratio_low", row.ratio_interval.low},
                    {"ratio_high", row.ratio_interval.high},
                    {"result", row.result},
                    {"counters", counters_json(row)}};
  if (row.at) {
    json["places"] = row.at->places;
    if (is_filch) {
      json["places_policy"] = row.at->config.policy;
      json["places_communication"] = row.at->config.communication;
      json["places_shipment"] = row.at->config.tasks_per_shipment;
      json["places_cyclic_steals"] = row.at->config.cyclic_steals;
    }
  }
  if (row.simulated) {
    json["virtual_seconds"] = row.seconds_median;
    json["machine"] = row.simulated->machine;
    json["numa"] = row.simulated->numa;
    json["communication_factor"] = row.simulated->communication_factor;
    if (const auto& bounded = row.simulated->bounded) {
      json["t1"] = bounded->work_s;
      json["t_inf"] = bounded->span_s;
      json["branching_depth"] = bounded->branching_depth;
      json["delta"] = optional_json(bounded->delay_s);
      json["bound"] = optional_json(bounded->bound_s);
    }
  }
  return json;
}

std::string plural(int count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string interval_cell(const interval& of) { return fmt::format("{:.3f} .. {:.3f}", of.low, of.high); }

std::string seconds_cell(const std::optional<double>& seconds) { return seconds ? format_seconds(*seconds) : "-"; }

void add_bound(std::vector<std::string>& cells, const computation_bound& bounded) {
  cells.insert(cells.end(),
               {format_seconds(bounded.work_s), format_seconds(bounded.span_s), std::to_string(bounded.branching_depth),
                seconds_cell(bounded.delay_s), seconds_cell(bounded.bound_s)});
}

}  // namespace

std::string to_json(const topology& machine, const std::vector<result_row>& rows) {
  ordered_json json{{"machine", machine_json(machine)}, {"rows", ordered_json::array()}};
  for (const result_row& row : rows) {
    json["rows"].push_back(row_json(row));
  }
  return json_text(json);
}

std::string to_table(const topology& machine, const std::vector<result_row>& rows) {
  using enum text_table::align;
  // Simulations are about speed-ups, and about how far these depend on what communication costs.
  const bool is_simulated = std::ranges::any_of(rows, [](const result_row& row) { return row.simulated.has_value(); });
  std::vector<text_table::column> columns{{"workload", left}, {"runner", left},     {"policy", left},
                                          {"join", left},     {"loop", left},       {"workers", right},
                                          {"median", right},  {"to serial", right}, {"95 % interval", right},
                                          {"ns/task", right}, {"runs", right}};
  if (is_simulated) {
    columns.insert(columns.end(), {{"speed-up", right}, {"communication", right}});
  }
  const bool is_bounded =
      std::ranges::any_of(rows, [](const result_row& row) { return row.simulated && row.simulated->bounded; });
  if (is_bounded) {
    columns.insert(columns.end(), {{"T1", right}, {"T_inf", right}, {"F", right}, {"delta", right}, {"bound", right}});
  }
  const bool has_places = std::ranges::any_of(rows, [](const result_row& row) { return row.at.has_value(); });
  if (has_places) {
    columns.insert(columns.end(), {{"places", right}, {"between places", left}});
  }
  text_table table(columns);
  for (const result_row& row : rows) {
    const std::optional<double> ns_per_task = row.ns_per_task();
    const bool has_ratio = !std::isnan(row.ratio_to_serial);
    std::vector<std::string> cells{row.workload + ":" + row.size,
                                   std::string{runner_name(row.config.runner)},
                                   row.config.policy,
                                   row.config.join,
                                   row.config.loop,
                                   std::to_string(row.config.workers),
                                   format_seconds(row.seconds_median),
                                   has_ratio ? fmt::format("{:.3f}", row.ratio_to_serial) : "-",
                                   has_ratio ? interval_cell(row.ratio_interval) : "-",
                                   ns_per_task ? fmt::format("{:.2f}", *ns_per_task) : "-",
                                   std::to_string(row.runs)};
    if (is_simulated) {
      cells.push_back(has_ratio ? fmt::format("{:.2f}", 1 / row.ratio_to_serial) : "-");
      cells.push_back(fmt::format("x {:g}", row.simulated ? row.simulated->communication_factor : 1.0));
    }
    if (is_bounded) {
      add_bound(cells, *row.simulated->bounded);
    }
    if (has_places) {
      cells.push_back(row.at ? std::to_string(row.at->places) : "-");
      const bool is_filch = row.at && row.config.runner == bench::runner::filch;
      cells.push_back(is_filch ? fmt::format("{}/{}/{}", row.at->config.policy, row.at->config.communication,
                                             row.at->config.tasks_per_shipment)
                               : "-");
    }
    table.add_row(std::move(cells));
  }
  return summarize(machine) + "\n\n" + table.to_string();
}

std::string summarize(const topology& machine) {
  return fmt::format("{}, {}, {}", bench::printable(machine.model), plural(machine.cores, "core"),
                     plural(machine.usable_workers, "usable worker"));
}

}  // namespace filch::cli
