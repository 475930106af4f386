// Where the machine files are.
#pragma once

#include <filesystem>

namespace filch::cli {

/// The folder that belongs to this program, in the build tree or in an installation.
std::filesystem::path machine_folder();

}  // namespace filch::cli
