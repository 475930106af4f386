// A file as one text.
#pragma once

#include <filesystem>
#include <string>

namespace filch::cli {

/// All that is in it; nothing if it cannot be read.
std::string text_of(const std::filesystem::path& path);

}  // namespace filch::cli
