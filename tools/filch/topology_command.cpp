// filch topology: the machine as filch sees it, and how many workers it allows.
#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <filch/topology.hpp>

#include "command.hpp"
#include "json_text.hpp"
#include "option_value.hpp"

namespace filch::cli {

namespace {

using nlohmann::ordered_json;
using core_info = topology::core_info;

ordered_json topology_json(const topology& machine) {
  ordered_json cpus = ordered_json::array();
  for (const core_info& each : machine.cpus) {
    cpus.push_back({{"cpu", each.cpu},
                    {"core", each.core},
                    {"l3", each.l3},
                    {"numa_node", each.numa_node},
                    {"package", each.package}});
  }
  return {{"model", machine.model},           {"source", machine.source},
          {"packages", machine.packages},     {"numa_nodes", machine.numa_nodes},
          {"cores", machine.cores},           {"usable_cpus", machine.usable_cpus},
          {"quota_cpus", machine.quota_cpus}, {"usable_workers", machine.usable_workers},
          {"cpus", std::move(cpus)}};
}

struct level {
  std::string_view name;
  int core_info::* member;
};
constexpr std::array<level, 3> upper_levels{
    {{"package", &core_info::package}, {"NUMA node", &core_info::numa_node}, {"L3 cache", &core_info::l3}}};

// Below the last of the upper levels: one line for each core, with its hardware threads.
std::string cores_text(const std::vector<core_info>& cpus, std::size_t depth) {
  std::map<int, std::vector<int>> cpus_of_core;
  for (const core_info& each : cpus) {
    cpus_of_core[each.core].push_back(each.cpu);
  }
  std::string text;
  for (const auto& [core, numbers] : cpus_of_core) {
    text += fmt::format("{:{}}core {}: cpu {}\n", "", 2 * depth, core, fmt::join(numbers, ", "));
  }
  return text;
}

std::string tree_text(const std::vector<core_info>& cpus, std::size_t depth = 0) {
  if (depth == upper_levels.size()) {
    return cores_text(cpus, depth);
  }
  const level& here = upper_levels.at(depth);
  std::map<int, std::vector<core_info>> parts;
  for (const core_info& each : cpus) {
    parts[each.*here.member].push_back(each);
  }
  std::string text;
  for (const auto& [number, part] : parts) {
    text += fmt::format("{:{}}{} {}\n", "", 2 * depth, here.name, number);
    text += tree_text(part, depth + 1);
  }
  return text;
}

std::string topology_text(const topology& machine) {
  const std::string quota = machine.quota_cpus > 0 ? fmt::format("{:g} cpus", machine.quota_cpus) : "none";
  return fmt::format("{} (read through {})\n", machine.model, machine.source) + tree_text(machine.cpus) +
         fmt::format("usable: {} hardware threads by affinity, cgroup quota {}: {} workers\n", machine.usable_cpus,
                     quota, machine.usable_workers);
}

}  // namespace

command add_topology_command(CLI::App& root) {
  CLI::App* const app =
      root.add_subcommand("topology", "Show the machine: packages, NUMA nodes, caches, cores, limits");
  app->add_flag("--json")->description("Print JSON");
  app->footer("Examples:\n  filch topology\n  filch topology --json\n");
  return {app, [app] {
            const topology machine = discover_topology();
            const bool as_json = is_set(*app, "--json");
            fmt::print("{}", as_json ? json_text(topology_json(machine)) : topology_text(machine));
            return exit_success;
          }};
}

}  // namespace filch::cli
