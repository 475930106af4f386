// Which known name a misspelt one was probably meant to be, for error messages of the command line.
#pragma once

#include <span>
#include <string_view>

namespace filch::cli {

/// The name in `known` closest to `given`, or an empty view when none is close enough to be worth suggesting
/// (more than two letters and a third of them differ). O(letters squared) per name.
std::string_view nearest_name(std::string_view given, std::span<const std::string_view> known);

}  // namespace filch::cli
