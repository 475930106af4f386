// filch_explore: looks for choices under which a protocol of the scheduler fails.
//
//   filch_explore --list
//   filch_explore lace_transitive split_deque --seconds 10
//   FILCH_VM_SEED=random:123 filch_explore lace_transitive      repeats one run and tells its story
//   filch_explore --mutations docs/protocols/mutations.md       see mutations.hpp
//   filch_explore --plant lost_wake_up
//
// Exit status: 0 nothing found, 1 a failure, 2 a command line that makes no sense.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "exploration.hpp"
#include "mutations.hpp"
#include "scenario.hpp"

namespace filch::explore {

namespace {

/// The scenarios of one file, FAMILY_scenarios.cpp.
struct family {
  std::string_view name;
  void (*add)(scenario_list& to);
};

constexpr std::array families{
    family{"split_deque", &add_split_deque},
    family{"ring_deque", &add_ring_deque},
    family{"cell", &add_cells},
    family{"closure_pool", &add_closure_pool},
    family{"join", &add_joins},
    family{"lineage", &add_lineage},
    family{"loop", &add_loops},
    family{"group", &add_groups},
    family{"bag", &add_bags},
    family{"adaptive", &add_adaptive},
    family{"sleep", &add_sleep},
    family{"asleep", &add_asleep},
    family{"background", &add_background},
    family{"interrupt", &add_interrupts},
    family{"lifecycle", &add_lifecycle},
    family{"adws", &add_adws},
    family{"constrained", &add_constrained},
    family{"export", &add_exports},
    family{"wave", &add_waves},
    family{"place", &add_places},
};

}  // namespace

scenario_list scenarios() {
  scenario_list all;
  for (const family& each : families) each.add(all);
  return all;
}

namespace {

scenario_list chosen_from(const scenario_list& all, const std::vector<std::string>& names) {
  if (names.empty()) return all;
  scenario_list chosen;
  for (const std::string& name : names) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const scenario& s) { return s.name == name; });
    if (found == all.end()) {
      throw std::invalid_argument("filch_explore: scenario '" + name + "' is unknown; --list shows which there are");
    }
    chosen.push_back(*found);
  }
  return chosen;
}

scenario_list scenarios_of(const std::string& name) {
  const auto found = std::find_if(families.begin(), families.end(), [&](const family& f) { return f.name == name; });
  if (found == families.end()) {
    std::string known;
    for (const family& each : families) known += (known.empty() ? "" : ", ") + std::string(each.name);
    throw std::invalid_argument("filch_explore: family '" + name + "' is unknown; use one of " + known);
  }
  scenario_list all;
  found->add(all);
  return all;
}

void report(const scenario& what, const vm::failure& failed) {
  for (const std::string& line : failed.story) fmt::print("{}\n", line);
  fmt::print("FAILED {}: {}\n  to repeat: FILCH_VM_SEED={} filch_explore {}\n", what.name, failed.what, failed.seed,
             what.name);
}

int explore_all(const scenario_list& chosen, const plan& how) {
  int failures = 0;
  result total;
  for (const scenario& what : chosen) {
    vm::explorer world;
    const result found = explore(world, what, how);
    total.runs += found.runs;
    total.steps += found.steps;
    total.seconds += found.seconds;
    fmt::print("{:<28}{:>10} runs{:>12} steps{:>8.0f} k/s  {}\n", what.name, found.runs, found.steps,
               static_cast<double>(found.steps) / found.seconds / 1e3, found.failed ? "FAILED" : "");
    std::fflush(stdout);
    if (!found.failed) continue;
    ++failures;
    const auto told = repeat(world, what, found.failed->seed);
    report(what, told ? *told : *found.failed);
  }
  fmt::print("{} scenarios, {} runs, {} steps, {:.0f} s, {} failed\n", chosen.size(), total.runs, total.steps,
             total.seconds, failures);
  return failures == 0 ? 0 : 1;
}

int repeat_all(const scenario_list& chosen, const std::string& seed) {
  int failures = 0;
  for (const scenario& what : chosen) {
    vm::explorer world;
    if (const auto failed = repeat(world, what, seed)) {
      report(what, *failed);
      ++failures;
    } else {
      fmt::print("{}: the run with seed {} does not fail\n", what.name, seed);
    }
  }
  return failures == 0 ? 0 : 1;
}

// For CLI11, "nan" is in every range.
std::string finite(const std::string& text) {
  return std::isfinite(std::strtod(text.c_str(), nullptr)) ? "" : "Value " + text + " is no number of seconds";
}

int run(int argc, char** argv) {
  CLI::App app{"Looks for choices under which a protocol of the scheduler fails."};
  std::vector<std::string> names;
  plan how;
  bool list = false;
  std::string table;
  std::string plant;
  std::string family_name;
  std::vector<std::string> tags;
  app.add_option("SCENARIO", names, "which scenarios; all when none is named");
  app.add_option("--family", family_name, "only the scenarios of one file, FAMILY_scenarios.cpp");
  app.add_option("--strategy", how.strategies, "random, pct, exhaustive; several are tried in turn")->delimiter(',');
  app.add_option("--seconds", how.seconds, "for each scenario and strategy")->check(CLI::PositiveNumber)->check(finite);
  app.add_option("--runs", how.most_runs, "at most, for each scenario and strategy")->check(CLI::PositiveNumber);
  app.add_option("--seed", how.seed, "of the first run")->check(CLI::NonNegativeNumber);
  app.add_flag("--twice", how.twice, "make every run twice and compare the two");
  app.add_flag("--list", list, "show the scenarios");
  CLI::Option* const mutations = app.add_option(
      "--mutations", table, "weaken every memory order, one at a time, and write a table of who noticed");
  app.add_option("--tag", tags, "with --mutations: only these")->delimiter(',')->needs(mutations);
  std::string table_to_check;
  app.add_option("--check-mutations", table_to_check, "see whether a table has a row for every memory order");
  app.add_option("--plant", plant, "damage the program in a known way: " + planted_names());
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "filch_explore: {}; see --help\n", error.what());
    return 2;
  }
  for (const std::string& strategy : how.strategies) static_cast<void>(vm::make_strategy(strategy, 1));
  const scenario_list chosen = chosen_from(family_name.empty() ? scenarios() : scenarios_of(family_name), names);
  if (list) {
    for (const scenario& s : chosen) fmt::print("{:<36} {}\n", s.name, s.about);
    return 0;
  }
  if (!plant.empty()) return explore_planted(plant, how);
  if (!table_to_check.empty()) return check_mutations(chosen, table_to_check);
  if (!table.empty()) return explore_mutations(chosen, how, table, tags);
  if (const char* const seed = std::getenv("FILCH_VM_SEED")) return repeat_all(chosen, seed);
  return explore_all(chosen, how);
}

}  // namespace
}  // namespace filch::explore

int main(int argc, char** argv) {
  try {
    return filch::explore::run(argc, argv);
  } catch (const std::invalid_argument& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "filch_explore: {}\n", error.what());
    return 1;
  }
}
