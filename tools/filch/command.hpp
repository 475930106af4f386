// One sub-command of the program: how it appears on the command line and what it does.
#pragma once

#include <functional>

#include <CLI/App.hpp>

namespace filch::cli {

struct command {
  CLI::App* app;             ///< its options; owned by the root
  std::function<int()> run;  ///< called after parsing; returns the exit status, throws std::invalid_argument for misuse
};

/// Exit statuses. Misuse is told apart from failure so that scripts can tell a typing error from a wrong result.
inline constexpr int exit_success = 0;
inline constexpr int exit_failure = 1;
inline constexpr int exit_misuse = 2;

command add_bench_command(CLI::App& root);
command add_demo_command(CLI::App& root);
command add_latency_command(CLI::App& root);
command add_list_command(CLI::App& root);
command add_profile_command(CLI::App& root);
command add_top_command(CLI::App& root);
command add_topology_command(CLI::App& root);

}  // namespace filch::cli
