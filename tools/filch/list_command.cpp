// filch list: what can be named on the command line.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <filch/combinations.hpp>

#include "command.hpp"
#include "configuration.hpp"
#include "data_folder.hpp"
#include "json_text.hpp"
#include "option_value.hpp"
#include "text_table.hpp"
#include "workload.hpp"

namespace filch::cli {

namespace {

using nlohmann::ordered_json;
using enum text_table::align;

std::vector<std::string_view> policies_that_split(loop_kind kind) {
  std::vector<std::string_view> names;
  for (const combination& each : combinations()) {
    if (std::ranges::find(each.loops, kind) != each.loops.end()) {
      names.push_back(each.policy);
    }
  }
  return names;
}

std::string workloads_text() {
  text_table table({{"workload", left}, {"default", left}, {"summary", left}, {"sizes", left}});
  for (const bench::workload& each : bench::workloads()) {
    table.add_row({each.name, each.default_size, each.summary, fmt::format("{}", fmt::join(each.sizes, " "))});
  }
  return table.to_string() +
         "file/PATH is a graph from a text file: AdjacencyGraph or EdgeArray of PBBS, or lines of two vertices each, "
         "numbered from 0\n";
}

std::string policies_text() {
  text_table table({{"policy", left}, {"joins (default first)", left}, {"default loop", left}, {"summary", left}});
  for (const combination& each : combinations()) {
    std::string joins{each.default_join};
    for (const std::string_view join : each.joins) {
      joins += join == each.default_join ? "" : fmt::format(" {}", join);
    }
    table.add_row(
        {std::string{each.policy}, joins, std::string{name_of(each.default_loop)}, std::string{each.summary}});
  }
  return table.to_string();
}

std::string loops_text() {
  text_table table({{"loop", left}, {"policies", left}, {"summary", left}});
  for (const way_to_split& each : ways_to_split()) {
    table.add_row({std::string{each.name}, fmt::format("{}", fmt::join(policies_that_split(each.kind), " ")),
                   std::string{each.summary}});
  }
  return table.to_string();
}

struct machine_name {
  std::string name;
  std::string summary;
};

// The machines that 'filch simulate' knows; none where it is not installed.
std::vector<machine_name> machines() {
  std::vector<machine_name> all;
  std::error_code ignored;
  for (const auto& each : std::filesystem::directory_iterator(machine_folder(), ignored)) {
    if (each.path().extension() != ".json") {
      continue;
    }
    std::ifstream file(each.path());
    const auto json = nlohmann::json::parse(file, nullptr, false);
    const bool has_summary = json.is_object() && json.contains("about") && json["about"].contains("machine");
    all.push_back({each.path().stem().string(), has_summary ? json["about"]["machine"].get<std::string>() : ""});
  }
  std::ranges::sort(all, {}, &machine_name::name);
  return all;
}

std::string machines_text() {
  text_table table({{"machine", left}, {"summary", left}});
  for (const machine_name& each : machines()) {
    table.add_row({each.name, each.summary});
  }
  table.add_row({"4x12", "any number of sockets and cores, with the figures of generic"});
  return table.to_string();
}

std::string list_json() {
  ordered_json json{{"workloads", ordered_json::array()},
                    {"policies", ordered_json::array()},
                    {"loops", ordered_json::array()},
                    {"machines", ordered_json::array()}};
  for (const bench::workload& each : bench::workloads()) {
    json["workloads"].push_back(
        {{"name", each.name}, {"summary", each.summary}, {"default_size", each.default_size}, {"sizes", each.sizes}});
  }
  for (const combination& each : combinations()) {
    std::vector<std::string_view> loops;
    std::ranges::transform(each.loops, std::back_inserter(loops), name_of);
    json["policies"].push_back({{"name", each.policy},
                                {"summary", each.summary},
                                {"default_join", each.default_join},
                                {"joins", each.joins},
                                {"default_loop", name_of(each.default_loop)},
                                {"loops", loops}});
  }
  for (const way_to_split& each : ways_to_split()) {
    json["loops"].push_back(
        {{"name", each.name}, {"summary", each.summary}, {"policies", policies_that_split(each.kind)}});
  }
  for (const machine_name& each : machines()) {
    json["machines"].push_back({{"name", each.name}, {"summary", each.summary}});
  }
  return json_text(json);
}

}  // namespace

command add_list_command(CLI::App& root) {
  CLI::App* const app = root.add_subcommand(
      "list", "Show workloads with their sizes, policies with their joins, ways to split loops, machines");
  app->add_flag("--json")->description("Print JSON");
  app->footer("Examples:\n  filch list\n  filch list --json\n");
  return {app, [app] {
            if (is_set(*app, "--json")) {
              fmt::print("{}", list_json());
            } else {
              fmt::print("{}\n{}\n{}\n{}", workloads_text(), policies_text(), loops_text(), machines_text());
            }
            return exit_success;
          }};
}

}  // namespace filch::cli
