// filch list: what can be named on the command line.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <filch/combinations.hpp>

#include "command.hpp"
#include "configuration.hpp"
#include "option_value.hpp"
#include "text_table.hpp"
#include "workload.hpp"

namespace filch::cli {

namespace {

using nlohmann::ordered_json;
using enum text_table::align;

constexpr std::string_view standard_loop_summary = "one task at a time; parallel loops have no other splitting yet";

std::string workloads_text() {
  text_table table({{"workload", left}, {"default", left}, {"summary", left}, {"sizes", left}});
  for (const bench::workload& each : bench::workloads()) {
    table.add_row({each.name, each.default_size, each.summary, fmt::format("{}", fmt::join(each.sizes, " "))});
  }
  return table.to_string();
}

std::string policies_text() {
  text_table table({{"policy", left}, {"joins (default first)", left}, {"summary", left}});
  for (const combination& each : combinations()) {
    std::string joins{each.default_join};
    for (const std::string_view join : each.joins) {
      joins += join == each.default_join ? "" : fmt::format(" {}", join);
    }
    table.add_row({std::string{each.policy}, joins, std::string{each.summary}});
  }
  return table.to_string();
}

std::string loops_text() {
  text_table table({{"loop", left}, {"summary", left}});
  table.add_row({std::string{standard_loop}, std::string{standard_loop_summary}});
  return table.to_string();
}

std::string list_json() {
  ordered_json json{{"workloads", ordered_json::array()}, {"policies", ordered_json::array()}, {"loops", {}}};
  for (const bench::workload& each : bench::workloads()) {
    json["workloads"].push_back(
        {{"name", each.name}, {"summary", each.summary}, {"default_size", each.default_size}, {"sizes", each.sizes}});
  }
  for (const combination& each : combinations()) {
    json["policies"].push_back(
        {{"name", each.policy}, {"summary", each.summary}, {"default_join", each.default_join}, {"joins", each.joins}});
  }
  json["loops"].push_back({{"name", standard_loop}, {"summary", standard_loop_summary}});
  return json.dump(2) + "\n";
}

}  // namespace

command add_list_command(CLI::App& root) {
  CLI::App* const app =
      root.add_subcommand("list", "Show workloads with their sizes, policies with their joins, loops");
  app->add_flag("--json")->description("Print JSON");
  app->footer("Examples:\n  filch list\n  filch list --json\n");
  return {app, [app] {
            if (is_set(*app, "--json")) {
              fmt::print("{}", list_json());
            } else {
              fmt::print("{}\n{}\n{}", workloads_text(), policies_text(), loops_text());
            }
            return exit_success;
          }};
}

}  // namespace filch::cli
