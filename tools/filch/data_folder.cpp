#include "machine_folder.hpp"

#include "sibling_program.hpp"

namespace filch::cli {

std::filesystem::path machine_folder() { return (program_folder() / FILCH_BIN_TO_MACHINES).lexically_normal(); }

}  // namespace filch::cli
