// The options with which every command that runs workloads says which of filch's settings to try.
#pragma once

#include <string>

#include <CLI/App.hpp>

#include "configuration.hpp"

namespace filch::cli {

/// Adds an option that takes one text, to be read by value_of when the command runs.
CLI::Option* add_text(CLI::App& command, const std::string& name, const std::string& help, const std::string& type);

/// Adds --policy, --join, --loop, --steal-half, --push-half, --delta, --interrupt-after, --interrupt-every and --pinning.
void add_filch_options(CLI::App& command);

/// What was given of these and of --workers, which each command describes itself. Throws std::invalid_argument for what
/// is given twice.
filch_settings settings_of(const CLI::App& command, int most = most_workers);

}  // namespace filch::cli
