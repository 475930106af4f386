// Processes that this one begins.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

namespace filch::cli {

/// In a process that was forked a moment ago: it ends when that parent does, however that ends. A signal that is meant for one process
/// would else leave the others computing.
void end_with(pid_t parent) noexcept;

/// What the program writes to its standard output; its standard error is this program's. Throws std::runtime_error when
/// it cannot be run or does not succeed.
std::string output_of(const std::filesystem::path& program, const std::vector<std::string>& arguments);

}  // namespace filch::cli
