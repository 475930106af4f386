#include "reproduction.hpp"

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "counters.hpp"
#include "option_value.hpp"
#include "places_counters.hpp"
#include "reproduction_values.hpp"
#include "simulated_rows.hpp"

namespace filch::cli {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;
using texts = std::vector<std::string>;

// Errors below are about a place inside a file; who reads the file adds its name.
[[noreturn]] void reject_file(const std::string& what) { throw std::invalid_argument(what); }

// Numbers may be written as such where a text is wanted.
std::string text_of(const ordered_json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

// Every {"small": ..., "paper": ...} is replaced by one of its values.
ordered_json at_scale(const ordered_json& value, std::string_view scale) {
  if (value.is_object() && value.size() == 2 && value.contains("small") && value.contains("paper")) {
    return at_scale(value.at(std::string{scale}), scale);
  }
  ordered_json result = value;
  if (value.is_structured()) {
    for (auto& each : result) {
      each = at_scale(each, scale);
    }
  }
  return result;
}

// All required keys are there, and none that nobody knows.
void require_keys(const std::string& where, const ordered_json& object,
                  std::initializer_list<std::string_view> required,
                  std::initializer_list<std::string_view> optional = {}) {
  if (!object.is_object()) reject_file(fmt::format("{} is no object, {{...}}", where));
  for (const std::string_view key : required) {
    if (!object.contains(key)) reject_file(fmt::format("{} has no '{}'", where, key));
  }
  for (const auto& [key, value] : object.items()) {
    const auto names_it = [&unknown = key](std::string_view name) { return name == unknown; };
    if (std::ranges::none_of(required, names_it) && std::ranges::none_of(optional, names_it)) {
      reject_file(fmt::format("{} has an unknown key '{}'", where, key));
    }
  }
}

texts texts_of(const ordered_json& array) {
  texts result;
  std::ranges::transform(array, std::back_inserter(result), text_of);
  return result;
}

template <class Range, class Member>
texts names_in(const Range& range, Member member) {
  texts names;
  std::ranges::transform(range, std::back_inserter(names), member);
  return names;
}

void require_name(std::string_view kind, const std::string& name, const texts& known) {
  if (std::ranges::find(known, name) == known.end()) reject_file(fmt::format("unknown {} '{}'", kind, name));
}

compared_setting setting_of(const std::string& name, const ordered_json& object) {
  require_keys(fmt::format("setting '{}'", name), object, {},
               {"policy", "join", "loop", "way", "steal_half", "push_half", "delta", "interrupt_after",
                "interrupt_every", "pinning", "spin", "runner", "places_policy", "cyclic_steals"});
  const auto option = [&](const char* key) {
    return object.contains(key) ? std::optional(object.at(key).get<std::string>()) : std::nullopt;
  };
  const filch_settings settings{
      .policies = option("policy").value_or("standard"),
      .joins = option("join"),
      .loops = option("loop"),
      .steal_half = object.value("steal_half", false),
      .push_half = object.value("push_half", false),
      .pinning = option("pinning"),
      .spin = object.contains("spin") ? std::optional(text_of(object.at("spin"))) : std::nullopt};
  const std::vector<configuration> configurations = filch_configurations(settings);
  if (configurations.size() != 1) reject_file(fmt::format("setting '{}' is more than one combination", name));
  const std::string& policy = configurations.front().policy;
  const auto interval = [&](const char* key, std::string_view option_name) {
    if (!object.contains(key)) return std::string{};
    if (!may_use(option_name, policy)) {
      reject_file(fmt::format("setting '{}' has '{}', which policy '{}' does not go with", name, key, policy));
    }
    return text_of(object.at(key));
  };
  compared_setting setting{.name = name,
                           .way = object.value("way", ""),
                           .delta = interval("delta", deal_interval),
                           .interrupt_after = interval("interrupt_after", interrupt_after),
                           .interrupt_every = interval("interrupt_every", interrupt_every),
                           .config = configurations.front(),
                           .places_policy = object.value("places_policy", ""),
                           .cyclic_steals = object.value("cyclic_steals", true)};
  if (object.contains("runner")) {
    if (object.size() != 1) reject_file(fmt::format("setting '{}' has a runner and something else", name));
    const std::vector<bench::runner> runners = peer_runners(object.at("runner").get<std::string>());
    if (runners.size() != 1) reject_file(fmt::format("setting '{}' is more than one runner", name));
    setting.config = {.runner = runners.front()};
  }
  return setting;
}

// What can be measured in one go on real processors: policies and other runners, as they are.
void require_native(const compared_setting& setting) {
  const configuration& config = setting.config;
  if (!config.join.empty() || !config.loop.empty() || config.steal_half || config.push_half ||
      !config.pinning.empty() || !setting.interrupt_every.empty()) {
    reject_file(fmt::format(
        "setting '{}' has more than a policy, a delta, an interrupt_after or a runner; runs on {} do not know that",
        setting.name, planned_runs::native));
  }
}

void require_settings(const planned_runs& runs, const std::vector<compared_setting>& settings) {
  texts runners;
  for (const std::string& name : runs.settings) {
    const auto found = std::ranges::find(settings, name, &compared_setting::name);
    if (found == settings.end()) reject_file(fmt::format("unknown setting '{}'", name));
    if (runs.places.empty() != found->places_policy.empty()) {
      reject_file(fmt::format("group '{}' and setting '{}': one of them is about places, and the other is not",
                              runs.group, name));
    }
    if (runs.is_native()) {
      require_native(*found);
      runners.push_back(std::string{runner_name(found->config.runner)} + "/" + found->config.policy);
    } else if (found->is_peer()) {
      reject_file(fmt::format("setting '{}' is a runner that cannot be simulated; group '{}' has to leave it out", name,
                              runs.group));
    }
  }
  std::ranges::sort(runners);
  if (std::ranges::adjacent_find(runners) != runners.end()) {
    reject_file(fmt::format("group '{}' on {} has two settings with the same policy or runner", runs.group,
                            planned_runs::native));
  }
}

planned_runs runs_of(const ordered_json& object, const std::vector<compared_setting>& all) {
  require_keys("a run", object, {"group", "machine", "workload", "workers", "x", "seeds"},
               {"settings", "numa", "serial_numa", "places", "tasks_per_shipment"});
  const auto numa_under = [&](const char* key) {
    return object.contains(key) ? std::optional(numa_of(key, object.at(key))) : std::nullopt;
  };
  planned_runs runs{.group = object.at("group"),
                    .machine = object.at("machine"),
                    .workload = object.at("workload"),
                    .workers = text_of(object.at("workers")),
                    .xs = texts_of(object.at("x")),
                    .settings = object.contains("settings") ? texts_of(object.at("settings"))
                                                            : names_in(all, &compared_setting::name),
                    .seeds = object.at("seeds"),
                    .numa = numa_under("numa"),
                    .serial_numa = numa_under("serial_numa"),
                    .places = object.contains("places") ? text_of(object.at("places")) : "",
                    .tasks_per_shipment = object.value("tasks_per_shipment", 1)};
  if ((runs.numa || runs.serial_numa) && runs.is_native()) {
    reject_file(fmt::format("group '{}' has 'numa' or 'serial_numa', which runs on {} do not know", runs.group,
                            planned_runs::native));
  }
  if (runs.xs.empty()) reject_file(fmt::format("group '{}' has no x", runs.group));
  require_settings(runs, all);
  return runs;
}

compared_metric metric_of(const ordered_json& object) {
  require_keys("a metric", object, {"name", "title"},
               {"counters", "per", "percent", "milliseconds", "against", "amounts", "published"});
  compared_metric metric{.name = object.at("name"),
                         .title = object.at("title"),
                         .counters = {},
                         .per = object.value("per", ""),
                         .percent = object.value("percent", false),
                         .milliseconds = object.value("milliseconds", false),
                         .against = object.value("against", ""),
                         .amounts = {},
                         .published = {}};
  if (object.contains("amounts")) {
    for (const auto& [group, amount] : object.at("amounts").items()) metric.amounts.emplace_back(group, amount);
  }
  if (object.contains("counters")) metric.counters = texts_of(object.at("counters"));
  texts named = metric.counters;
  if (!metric.per.empty()) named.push_back(metric.per);
  for (const std::string& name : named) {
    if (std::ranges::find(counters, name, &counter::name) == counters.end() && !counted_as(name, {}) &&
        std::ranges::find(time_counters, name) == time_counters.end()) {
      reject_file("unknown counter '" + name + "'");
    }
  }
  const ordered_json published = object.value("published", ordered_json::object());
  for (const auto& [group, settings] : published.items()) {
    for (const auto& [setting, value] : settings.items()) {
      if (value.is_number()) {
        metric.published.push_back({group, setting, "", value});
        continue;
      }
      for (const auto& [x, of_x] : value.items()) {
        metric.published.push_back({group, setting, x, of_x});
      }
    }
  }
  return metric;
}

place place_of(const ordered_json& array, const std::string& group) {
  if (!array.is_array() || array.size() < 2 || array.size() > 3) {
    reject_file(fmt::format("{} is no place: [group, setting] or [group, setting, x]", array.dump()));
  }
  return {.group = replaced(text_of(array[0]), {{"group", group}}),
          .setting = text_of(array[1]),
          .x = array.size() == 3 ? text_of(array[2]) : std::string{}};
}

// The place is one that the experiment fills.
void require_place(const place& where, const reproduction& within) {
  require_name("group", where.group, names_in(within.runs, &planned_runs::group));
  require_name("setting", where.setting, names_in(within.settings, &compared_setting::name));
  texts xs;  // of all rows of the group in which the setting takes part
  for (const planned_runs& runs : within.runs) {
    if (runs.group != where.group) continue;
    if (runs.is_native()) {
      reject_file(
          fmt::format("a claim is about '{}', on {}; only simulations are judged", where.group, planned_runs::native));
    }
    if (std::ranges::find(runs.settings, where.setting) == runs.settings.end()) continue;
    xs.insert(xs.end(), runs.xs.begin(), runs.xs.end());
  }
  if (xs.empty()) reject_file(fmt::format("'{}' takes no part in group '{}'", where.setting, where.group));
  if (where.x == place::largest || where.x == place::least) {
    return;
  }
  if (where.x.empty() ? xs.size() != 1 : std::ranges::find(xs, where.x) == xs.end()) {
    reject_file(where.x.empty() ? fmt::format("a claim does not say which of the rows of '{}' it is about", where.group)
                                : fmt::format("group '{}' has no '{}'", where.group, where.x));
  }
}

claim claim_of(const ordered_json& object, const std::string& group, const reproduction& within) {
  require_keys("a claim", object, {"says", "left", "is", "factor"}, {"right", "metric", "groups"});
  const std::string is = object.at("is");
  if (is != ">=" && is != "<=" && is != "==" && is != "around") {
    reject_file(fmt::format("a claim is '{}', none of >=, <=, == and around", is));
  }
  claim result{.says = replaced(object.at("says"), {{"group", group}}),
               .metric = object.value("metric", within.metrics.front().name),
               .left = place_of(object.at("left"), group),
               .relation = is,
               .factor = object.at("factor"),
               .right = std::nullopt};
  if (object.contains("right")) result.right = place_of(object.at("right"), group);
  require_name("metric", result.metric, names_in(within.metrics, &compared_metric::name));
  require_place(result.left, within);
  require_place(result.right.value_or(result.left), within);
  return result;
}

reproduction reproduction_of(const ordered_json& object) {
  require_keys("the file", object, {"title", "about", "x", "settings", "runs", "metrics", "claims"});
  reproduction result{.title = object.at("title"),
                      .about = texts_of(object.at("about")),
                      .x_title = object.at("x"),
                      .settings = {},
                      .runs = {},
                      .metrics = {},
                      .claims = {}};
  for (const auto& [name, setting] : object.at("settings").items()) {
    result.settings.push_back(setting_of(name, setting));
  }
  const texts settings = names_in(result.settings, &compared_setting::name);
  for (const ordered_json& each : object.at("runs")) {
    result.runs.push_back(runs_of(each, result.settings));
  }
  for (const ordered_json& each : object.at("metrics")) {
    result.metrics.push_back(metric_of(each));
    const std::string& against = result.metrics.back().against;
    if (!against.empty()) require_name("setting", against, settings);
    for (const auto& [group, amount] : result.metrics.back().amounts) {
      require_name("group", group, names_in(result.runs, &planned_runs::group));
    }
    for (const published_figure& figure : result.metrics.back().published) {
      require_name("group", figure.group, names_in(result.runs, &planned_runs::group));
      require_name("setting", figure.setting, settings);
    }
  }
  if (result.metrics.empty() || object.at("claims").empty()) reject_file("there is nothing to compare");
  for (const ordered_json& each : object.at("claims")) {
    for (const std::string& group : each.contains("groups") ? texts_of(each.at("groups")) : texts{""}) {
      result.claims.push_back(claim_of(each, group, result));
    }
  }
  return result;
}

// Calls `read` with what is in the file. What goes wrong names the file, and is no misuse.
template <class Read>
auto from_file(const fs::path& file, const Read& read) {
  try {
    std::ifstream stream(file);
    if (!stream) reject_file("it cannot be read");
    return read(ordered_json::parse(stream));
  } catch (const std::exception& error) {
    throw std::runtime_error(fmt::format("experiment '{}': {}", file.string(), error.what()));
  }
}

}  // namespace

std::vector<reproduced_paper> load_papers(const fs::path& folder) {
  std::vector<reproduced_paper> papers;
  std::error_code ignored;
  for (const auto& each : fs::directory_iterator(folder, ignored)) {
    if (!each.is_directory()) {
      continue;
    }
    papers.push_back(from_file(each.path() / "paper.json", [&](const ordered_json& object) {
      require_keys("the file", object, {"title", "experiments"});
      return reproduced_paper{.name = each.path().filename().string(),
                              .title = object.at("title"),
                              .experiments = texts_of(object.at("experiments"))};
    }));
  }
  if (papers.empty()) {
    throw std::runtime_error(fmt::format("there are no experiments in '{}'; install filch again", folder.string()));
  }
  std::ranges::sort(papers, {}, &reproduced_paper::name);
  return papers;
}

reproduction load_reproduction(const fs::path& file, std::string_view scale) {
  return from_file(file, [&](const ordered_json& object) { return reproduction_of(at_scale(object, scale)); });
}

}  // namespace filch::cli
