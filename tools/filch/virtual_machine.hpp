// The commands of the virtual machine. They are another program, because a program has either real or virtual workers.
#pragma once

#include <string>

#include "command.hpp"

namespace filch::cli {

/// A command that becomes 'filch-vm' with all that stands behind its name.
command add_forwarded_command(CLI::App& root, const std::string& name);

}  // namespace filch::cli
