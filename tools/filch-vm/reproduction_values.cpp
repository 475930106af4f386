#include "reproduction_values.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>

#include "counters.hpp"
#include "data_folder.hpp"
#include "error_line.hpp"
#include "native_rows.hpp"
#include "option_value.hpp"
#include "simulated_rows.hpp"
#include "simulated_run.hpp"
#include "workload_choice.hpp"

namespace filch::cli {

namespace {

// A cell that one of the rows of a batch will fill.
struct planned_point {
  std::string x;
  std::string setting;
  configuration config;
};

// The setting's configuration, but for workers.
configuration configuration_of(const compared_setting& setting,
                               const std::vector<std::pair<std::string, std::string>>& values) {
  constexpr int longest_ns = 1'000'000'000;
  const auto interval = [&](std::string_view key, const std::string& text, int least) {
    return text.empty() ? std::nullopt : std::optional(parse_integer(key, replaced(text, values), least, longest_ns));
  };
  configuration config = setting.config;
  config.deal_interval_ns = interval("delta", setting.delta, 1);
  config.interrupt_after_ns = interval("interrupt_after", setting.interrupt_after, 0);
  config.interrupt_every_ns = interval("interrupt_every", setting.interrupt_every, 0);
  return config;
}

// All runs of one workload on one machine, which share the serial run.
struct batch {
  std::string workload;
  std::vector<planned_point> points;
};

std::vector<batch> batches_of(const reproduction& what, const planned_runs& runs,
                              const vm::machine_description& machine) {
  std::vector<batch> batches;
  for (const std::string& x : runs.xs) {
    for (const std::string& name : runs.settings) {
      const compared_setting& setting = *std::ranges::find(what.settings, name, &compared_setting::name);
      const std::vector<std::pair<std::string, std::string>> values{{"x", x}, {"way", setting.way}};
      configuration config = configuration_of(setting, values);
      config.workers = parse_integer("workers", replaced(runs.workers, values), 1, machine.hardware_threads());
      const std::string workload = replaced(runs.workload, values);
      auto found = std::ranges::find(batches, workload, &batch::workload);
      if (found == batches.end()) {
        found = batches.insert(found, {.workload = workload, .points = {}});
      }
      found->points.push_back({x, name, resolved(machine, config)});
    }
  }
  return batches;
}

bool run_batch(const batch& all, const std::string& group, const simulation_request& request,
               std::vector<measured_point>& points) {
  std::vector<result_row> rows;
  const bool is_right = simulate(request, choose_workload(all.workload), rows);
  for (const planned_point& point : all.points) {
    for (const result_row& row : rows) {
      if (row.config == point.config) {
        points.push_back({group, point.x, point.setting, row});
      }
    }
  }
  return is_right;
}

// As filch bench measures it, all settings of a row in turns. False: it failed, with a line on stderr.
bool run_natively(const reproduction& what, const planned_runs& runs, std::vector<measured_point>& points) {
  for (const std::string& x : runs.xs) {
    const std::vector<std::pair<std::string, std::string>> values{{"x", x}};
    std::vector<configuration> configurations;
    std::ranges::transform(runs.settings, std::back_inserter(configurations), [&](const std::string& name) {
      return configuration_of(*std::ranges::find(what.settings, name, &compared_setting::name), values);
    });
    std::vector<result_row> rows;
    try {
      rows = native_rows(replaced(runs.workload, values), configurations, replaced(runs.workers, values), runs.seeds);
    } catch (const std::runtime_error& error) {
      print_error(fmt::format("{}: {}", runs.group, error.what()));
      return false;
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      points.push_back({runs.group, x, runs.settings[i], rows[i]});
    }
  }
  return true;
}

bool run_group(const reproduction& what, const planned_runs& runs, simulation_request request,
               std::vector<measured_point>& points) {
  if (runs.is_native()) {
    return run_natively(what, runs, points);
  }
  request.machine = vm::load_machine(runs.machine, machine_folder());
  request.machine.data.numa = runs.numa.value_or(request.machine.data.numa);
  request.serial_numa = runs.serial_numa;
  request.seeds = runs.seeds;
  bool is_right = true;
  for (const batch& each : batches_of(what, runs, request.machine)) {
    request.configurations.clear();
    for (const planned_point& point : each.points) {
      // Settings may differ in their names only.
      if (std::ranges::find(request.configurations, point.config) == request.configurations.end()) {
        request.configurations.push_back(point.config);
      }
    }
    is_right = run_batch(each, runs.group, request, points) && is_right;
  }
  return is_right;
}

// All values that the place may stand for.
std::vector<double> values_at(const place& where, const compared_metric& metric, double factor,
                              const std::vector<measured_point>& points) {
  const bool is_any = where.x.empty() || where.x == place::largest || where.x == place::least;
  std::vector<double> values;
  for (const measured_point& point : points) {
    if (point.group == where.group && point.setting == where.setting && point.communication_factor() == factor &&
        (is_any || point.x == where.x)) {
      if (const auto value = value_of(metric, point, points)) values.push_back(*value);
    }
  }
  return values;
}

std::optional<double> value_at(const place& where, const compared_metric& metric, double factor,
                               const std::vector<measured_point>& points) {
  const std::vector<double> values = values_at(where, metric, factor, points);
  if (values.empty() || (where.x.empty() && values.size() > 1)) {
    return std::nullopt;
  }
  return where.x == place::least ? std::ranges::min(values) : std::ranges::max(values);
}

bool holds(double left, std::string_view relation, double right) {
  if (relation == "==") return left == right;
  return relation == ">=" ? left >= right : left <= right;
}

judged_claim judge_one(const claim& stated, const compared_metric& metric, double factor,
                       const std::vector<measured_point>& points) {
  judged_claim judged{stated, factor, value_at(stated.left, metric, factor, points), stated.factor, false};
  if (stated.right) {
    const std::optional<double> right = value_at(*stated.right, metric, factor, points);
    judged.right = right ? std::optional(stated.factor * *right) : std::nullopt;
  }
  if (judged.left && judged.right) {
    judged.holds = holds(*judged.left, stated.relation, *judged.right);
  }
  return judged;
}

}  // namespace

std::string replaced(std::string text, const std::vector<std::pair<std::string, std::string>>& values) {
  for (const auto& [name, value] : values) {
    const std::string key = "{" + name + "}";
    for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + value.size())) {
      text.replace(at, key.size(), value);
    }
  }
  return text;
}

bool measure(const reproduction& what, const std::vector<double>& communication_factors, std::size_t processes,
             std::vector<measured_point>& points) {
  bool is_right = true;
  for (const planned_runs& runs : what.runs) {
    try {
      const simulation_request request{.communication_factors = communication_factors, .processes = processes};
      is_right = run_group(what, runs, request, points) && is_right;
    } catch (const std::invalid_argument& error) {  // a machine, a workload or a size that the file has wrong
      throw std::runtime_error(fmt::format("experiment '{}', {}: {}", what.title, runs.group, error.what()));
    }
  }
  return is_right;
}

std::optional<double> value_of(const compared_metric& metric, const measured_point& point,
                               const std::vector<measured_point>& points) {
  const result_row& row = point.row;
  if (!metric.against.empty()) {
    const auto other = std::ranges::find_if(points, [&](const measured_point& each) {
      return each.group == point.group && each.x == point.x && each.setting == metric.against &&
             each.communication_factor() == point.communication_factor();
    });
    if (other == points.end()) {
      return std::nullopt;
    }
    return 100 * (row.seconds_median / other->row.seconds_median - 1);
  }
  if (!metric.amounts.empty()) {
    const auto amount = std::ranges::find(metric.amounts, point.group, &std::pair<std::string, double>::first);
    return amount == metric.amounts.end() ? std::nullopt : std::optional(1e-9 * amount->second / row.seconds_median);
  }
  if (metric.counters.empty()) {
    return 1 / row.ratio_to_serial;
  }
  if (!row.counters) {
    return std::nullopt;
  }
  const auto counted = [&](const std::string& name) {
    return static_cast<double>(*row.counters.*std::ranges::find(counters, name, &counter::name)->member);
  };
  double sum = 0;
  for (const std::string& name : metric.counters) {
    sum += counted(name);
  }
  const double among = metric.per.empty() ? static_cast<double>(row.runs) : counted(metric.per);
  return among == 0 ? std::nullopt : std::optional(sum / among);
}

const published_figure* find_published(const compared_metric& metric, const std::string& group, const std::string& x,
                                       const std::string& setting) {
  const auto found = std::ranges::find_if(metric.published, [&](const published_figure& each) {
    return each.group == group && each.setting == setting && (each.x.empty() || each.x == x);
  });
  return found == metric.published.end() ? nullptr : &*found;
}

std::vector<judged_claim> judge(const reproduction& what, const std::vector<double>& communication_factors,
                                const std::vector<measured_point>& points) {
  std::vector<judged_claim> judged;
  for (const claim& each : what.claims) {
    const auto metric = std::ranges::find(what.metrics, each.metric, &compared_metric::name);
    for (const double factor : communication_factors) {
      judged.push_back(judge_one(each, *metric, factor, points));
    }
  }
  return judged;
}

}  // namespace filch::cli
