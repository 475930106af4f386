// A command line program made of sub-commands: finds the one that is asked for, runs it, and turns errors into one line
// and an exit status. What is run by way of 'filch' calls itself so in its messages.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "command.hpp"

namespace filch::cli {

struct program {
  std::string summary;                                      ///< first line of the help
  std::vector<std::function<command(CLI::App&)>> commands;  ///< each adds itself to the root
};

/// Returns the exit status; throws nothing.
int run_program(int argc, const char* const* argv, const program& what);

}  // namespace filch::cli
