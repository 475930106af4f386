#include "reproduction_values.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>

#include "counters.hpp"
#include "error_line.hpp"
#include "machine_choice.hpp"
#include "native_rows.hpp"
#include "option_value.hpp"
#include "places_counters.hpp"
#include "simulated_nodes.hpp"
#include "simulated_places.hpp"
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

bool run_at_places(const reproduction& what, const planned_runs& runs, const simulation_request& request,
                   std::vector<measured_point>& points) {
  constexpr int most_places = 100'000;
  bool is_right = true;
  for (const std::string& x : runs.xs) {
    const std::vector<std::pair<std::string, std::string>> values{{"x", x}};
    places_request asked{.places = {parse_integer("places", replaced(runs.places, values), 1, most_places)}};
    require_nodes(request.machine, asked.places.front());
    const int workers =
        parse_integer("workers", replaced(runs.workers, values), 1, request.machine.hardware_threads() - 1);
    for (const std::string& name : runs.settings) {
      const compared_setting& setting = *std::ranges::find(what.settings, name, &compared_setting::name);
      configuration scheduler = configuration_of(setting, values);
      scheduler.workers = workers;
      asked.configurations.push_back({resolved(request.machine, scheduler), setting.places_policy, "dedicated",
                                      runs.tasks_per_shipment, setting.cyclic_steals});
    }
    std::vector<result_row> rows;
    is_right = simulate_places(request, asked, choose_workload(replaced(runs.workload, values)), rows) && is_right;
    for (std::size_t i = 0; i < runs.settings.size(); ++i) {
      for (const result_row& row : rows) {
        if (row.at->config == asked.configurations[i]) points.push_back({runs.group, x, runs.settings[i], row});
      }
    }
  }
  return is_right;
}

bool run_group(const reproduction& what, const planned_runs& runs, simulation_request request,
               std::vector<measured_point>& points) {
  if (runs.is_native()) {
    return run_natively(what, runs, points);
  }
  request.machine = choose_machine(runs.machine);
  request.machine.data.numa = runs.numa.value_or(request.machine.data.numa);
  request.serial_numa = runs.serial_numa;
  request.seeds = runs.seeds;
  if (!runs.places.empty()) return run_at_places(what, runs, request, points);
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

// The point that the metric compares with.
const measured_point* compared_with(const compared_metric& metric, const measured_point& point,
                                    const std::vector<measured_point>& points) {
  const auto other = std::ranges::find_if(points, [&](const measured_point& each) {
    return each.group == point.group && each.x == point.x && each.setting == metric.against &&
           each.communication_factor() == point.communication_factor();
  });
  return other == points.end() ? nullptr : &*other;
}

// By how many per cent, of each pair of runs with the same seed. Empty: runs are not known one by one.
std::vector<double> longer_by(const measured_point& point, const measured_point& than) {
  std::vector<double> all;
  if (!point.row.at || !than.row.at) return all;
  std::ranges::transform(point.row.at->seconds, than.row.at->seconds, std::back_inserter(all),
                         [](double mine, double others) { return 100 * (mine / others - 1); });
  return all;
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

std::optional<interval> interval_at(const place& where, const compared_metric& metric, double factor,
                                    const std::vector<measured_point>& points) {
  const auto found = std::ranges::find_if(points, [&](const measured_point& each) {
    return each.group == where.group && each.setting == where.setting && each.communication_factor() == factor &&
           (where.x.empty() || each.x == where.x);
  });
  return found == points.end() ? std::nullopt : interval_of(metric, *found, points);
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
  if (stated.relation == "around") {
    judged.around = interval_at(stated.left, metric, factor, points);
    judged.holds =
        judged.around && judged.right && judged.around->low <= *judged.right && *judged.right <= judged.around->high;
  } else if (judged.left && judged.right) {
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
    const measured_point* const other = compared_with(metric, point, points);
    if (other == nullptr) return std::nullopt;
    const std::vector<double> longer = longer_by(point, *other);
    return longer.empty() ? 100 * (row.seconds_median / other->row.seconds_median - 1) : median(longer);
  }
  if (metric.milliseconds) {
    return 1e3 * row.seconds_median;
  }
  if (!metric.amounts.empty()) {
    const auto amount = std::ranges::find(metric.amounts, point.group, &std::pair<std::string, double>::first);
    return amount == metric.amounts.end() ? std::nullopt : std::optional(1e-9 * amount->second / row.seconds_median);
  }
  if (metric.counters.empty()) {
    return 1 / row.ratio_to_serial;
  }
  if (!row.counters && !row.at) {
    return std::nullopt;
  }
  const auto counted = [&](const std::string& name) {
    if (row.at && row.at->time && std::ranges::find(time_counters, name) != time_counters.end())
      return time_counted_as(name, row.at->time->all_ns, row.at->time->charged_ns, row.at->counted.idle_ns);
    return row.at ? static_cast<double>(counted_as(name, row.at->counted).value_or(0))
                  : static_cast<double>(*row.counters.*std::ranges::find(counters, name, &counter::name)->member);
  };
  double sum = 0;
  for (const std::string& name : metric.counters) {
    sum += counted(name);
  }
  const double among = metric.per.empty() ? static_cast<double>(row.runs) : counted(metric.per);
  return among == 0 ? std::nullopt : std::optional((metric.percent ? 100 : 1) * sum / among);
}

std::optional<interval> interval_of(const compared_metric& metric, const measured_point& point,
                                    const std::vector<measured_point>& points) {
  const measured_point* const other = metric.against.empty() ? nullptr : compared_with(metric, point, points);
  const std::vector<double> longer = other != nullptr ? longer_by(point, *other) : std::vector<double>{};
  return longer.size() < 2 ? std::nullopt : std::optional(median_interval(longer));
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
