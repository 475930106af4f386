// The virtual machine that is asked for.
#pragma once

#include <string>

#include <filch/vm/simulation.hpp>

namespace filch::cli {

/// The machine of that name, path or shape, which has a price for all work that the generic one has a price for. Throws
/// std::invalid_argument.
vm::machine_description choose_machine(const std::string& text);

}  // namespace filch::cli
