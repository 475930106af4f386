#include "sibling_program.hpp"

#include <stdexcept>

#include <fmt/format.h>
#include <unistd.h>

namespace filch::cli {

namespace fs = std::filesystem;

fs::path program_folder() { return fs::canonical("/proc/self/exe").parent_path(); }

fs::path sibling_program(std::string_view name) {
  fs::path path = program_folder() / name;
  if (access(path.c_str(), X_OK) != 0) {
    throw std::runtime_error(fmt::format(
        "the program '{}' is needed, but is not there; build filch with FILCH_BUILD_VM=ON and FILCH_BUILD_TOOLS=ON",
        path.string()));
  }
  return path;
}

}  // namespace filch::cli
