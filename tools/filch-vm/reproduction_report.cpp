#include "reproduction_report.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "build_info.hpp"
#include "json_text.hpp"
#include "text_table.hpp"

namespace filch::cli {

namespace {

using nlohmann::ordered_json;

std::string number(double value) { return value >= 1000 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value); }

std::string number(const std::optional<double>& value) { return value ? number(*value) : "?"; }

std::string cell(const compared_metric& metric, const measured_point& point,
                 const std::vector<measured_point>& points) {
  const std::optional<double> value = value_of(metric, point, points);
  if (!value) return "-";
  const std::optional<interval> range = interval_of(metric, point, points);
  return range ? fmt::format("{} [{}, {}]", number(*value), number(range->low), number(range->high)) : number(*value);
}

const measured_point* find_point(const reproduction_result& result, const std::string& group, const std::string& x,
                                 const std::string& setting) {
  const auto found = std::ranges::find_if(result.points, [&](const measured_point& each) {
    return each.group == group && each.x == x && each.setting == setting && each.communication_factor() == 1;
  });
  return found == result.points.end() ? nullptr : &*found;
}

bool is_published(const compared_metric& metric, const std::string& setting) {
  return std::ranges::find(metric.published, setting, &published_figure::setting) != metric.published.end();
}

std::string table(const reproduction_result& result, const compared_metric& metric) {
  using enum text_table::align;
  std::vector<text_table::column> columns{{"", left}, {result.what.x_title, right}};
  for (const compared_setting& each : result.what.settings) {
    columns.push_back({each.name, right});
    if (is_published(metric, each.name)) {
      columns.push_back({"(paper)", right});
    }
  }
  text_table text(columns);
  for (const planned_runs& runs : result.what.runs) {
    for (const std::string& x : runs.xs) {
      std::vector<std::string> cells{runs.group, x};
      for (const compared_setting& each : result.what.settings) {
        const measured_point* const point = find_point(result, runs.group, x, each.name);
        const bool is_planned = std::ranges::find(runs.settings, each.name) != runs.settings.end();
        cells.push_back(point != nullptr ? cell(metric, *point, result.points) : (is_planned ? "failed" : ""));
        if (is_published(metric, each.name)) {
          const published_figure* const figure = find_published(metric, runs.group, x, each.name);
          cells.push_back(figure != nullptr ? fmt::format("({})", number(figure->value)) : "");
        }
      }
      text.add_row(std::move(cells));
    }
  }
  return text.to_string();
}

std::string factor_text(double factor) { return factor == 1 ? "" : fmt::format(", communication x {:g}", factor); }

std::string claim_line(const judged_claim& judged) {
  const std::string left = judged.around
                               ? fmt::format("[{}, {}]", number(judged.around->low), number(judged.around->high))
                               : number(judged.left);
  return fmt::format("{}  {} ({} {} {}{})\n", judged.holds ? "PASS" : "FAIL", judged.stated.says, left,
                     judged.stated.relation, number(judged.right), factor_text(judged.communication_factor));
}

ordered_json optional_json(const std::optional<double>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json place_json(const place& where) {
  return {{"group", where.group}, {"setting", where.setting}, {"x", where.x}};
}

ordered_json point_json(const reproduction_result& result, const measured_point& point) {
  const configuration& config = point.row.config;
  ordered_json json{{"group", point.group},
                    {"x", point.x},
                    {"setting", point.setting},
                    {"workload", point.row.workload},
                    {"size", point.row.size},
                    {"machine", point.row.simulated ? point.row.simulated->machine : std::string{planned_runs::native}},
                    {"runner", runner_name(config.runner)},
                    {"communication_factor", point.communication_factor()},
                    {"policy", config.policy},
                    {"join", config.join},
                    {"loop", config.loop},
                    {"workers", config.workers},
                    {"runs", point.row.runs},
                    {point.row.simulated ? "virtual_seconds" : "seconds", point.row.seconds_median},
                    {"values", ordered_json::object()},
                    {"intervals", ordered_json::object()},
                    {"paper", ordered_json::object()}};
  for (const compared_metric& metric : result.what.metrics) {
    json["values"][metric.name] = optional_json(value_of(metric, point, result.points));
    if (const auto range = interval_of(metric, point, result.points)) {
      json["intervals"][metric.name] = {range->low, range->high};
    }
    if (const auto* const figure = find_published(metric, point.group, point.x, point.setting)) {
      json["paper"][metric.name] = figure->value;
    }
  }
  return json;
}

ordered_json claim_json(const judged_claim& judged) {
  const claim& stated = judged.stated;
  return {{"says", stated.says},
          {"metric", stated.metric},
          {"left", place_json(stated.left)},
          {"is", stated.relation},
          {"factor", stated.factor},
          {"right", stated.right ? place_json(*stated.right) : ordered_json(nullptr)},
          {"communication_factor", judged.communication_factor},
          {"left_value", optional_json(judged.left)},
          {"right_value", optional_json(judged.right)},
          {"holds", judged.holds}};
}

}  // namespace

std::string to_text(const reproduction_result& result) {
  std::string text = fmt::format("{} ({}, scale {})\n", result.what.title, result.name, result.scale);
  for (const std::string& line : result.what.about) {
    text += line + "\n";
  }
  for (const compared_metric& metric : result.what.metrics) {
    text += fmt::format("\n{}\n\n{}", metric.title, table(result, metric));
  }
  text += "\n";
  for (const judged_claim& each : result.claims) {
    text += claim_line(each);
  }
  return text;
}

std::string to_json(const reproduction_result& result) {
  ordered_json json{{"experiment", result.name},       {"title", result.what.title},
                    {"scale", result.scale},           {"filch_version", build_info::version},
                    {"points", ordered_json::array()}, {"claims", ordered_json::array()}};
  for (const measured_point& each : result.points) {
    json["points"].push_back(point_json(result, each));
  }
  for (const judged_claim& each : result.claims) {
    json["claims"].push_back(claim_json(each));
  }
  return json_text(json);
}

}  // namespace filch::cli
