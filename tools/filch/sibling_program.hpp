// Programs that belong together lie in one folder, wherever that is.
#pragma once

#include <filesystem>
#include <string_view>

namespace filch::cli {

/// Where the running program lies.
std::filesystem::path program_folder();

/// The program of that name beside the running one. Throws std::runtime_error when it is not there.
std::filesystem::path sibling_program(std::string_view name);

}  // namespace filch::cli
