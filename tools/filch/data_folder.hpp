// Where the files are that belong to this program, in the build tree or in an installation.
#pragma once

#include <filesystem>

namespace filch::cli {

/// Machine files, one for each machine.
std::filesystem::path machine_folder();

/// Experiments, in a folder for each paper.
std::filesystem::path reproduction_folder();

}  // namespace filch::cli
