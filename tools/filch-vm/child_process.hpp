// Running another program for what it prints.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace filch::cli {

/// What the program writes to its standard output; its standard error is this program's. Throws std::runtime_error when
/// it cannot be run or does not succeed.
std::string output_of(const std::filesystem::path& program, const std::vector<std::string>& arguments);

}  // namespace filch::cli
