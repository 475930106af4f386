// The commands of the virtual machine.
#pragma once

#include "command.hpp"

namespace filch::cli {

command add_simulate_command(CLI::App& root);
command add_reproduce_command(CLI::App& root);
command add_calibrate_command(CLI::App& root);
command add_validate_command(CLI::App& root);

}  // namespace filch::cli
