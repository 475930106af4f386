// Where a source lies. Compilers, and caches of what they made, may name it as seen from the build folder.
#pragma once

#include <filesystem>
#include <string_view>

namespace filch::explore {

inline std::filesystem::path source_path(std::string_view named) {
  return (std::filesystem::path(FILCH_BINARY_DIR) / named).lexically_normal();
}

}  // namespace filch::explore
