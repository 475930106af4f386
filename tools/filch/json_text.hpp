// How the command line writes JSON.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace filch::cli {

/// The value, indented, and a line end. Bytes that are not UTF-8, as names of files may have, become U+FFFD.
std::string json_text(const nlohmann::ordered_json& value);

}  // namespace filch::cli
