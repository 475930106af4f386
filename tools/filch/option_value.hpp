// Reading the values of options: comma separated lists, whole numbers and names out of a known set. CLI11 finds the
// options; what their values may be is decided here, so that every bad value gets the same kind of message: one line
// with the option, the value, what is wrong with it and what to write instead.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/App.hpp>

namespace filch::cli {

/// The text given for `option` (such as "--policy"), or nothing when the option was left out. Throws
/// std::invalid_argument when it was given more than once.
std::optional<std::string> value_of(const CLI::App& command, const std::string& option);

/// Whether `flag`, an option without a value, is given. Throws std::invalid_argument for a repeated flag and for a
/// value.
bool is_set(const CLI::App& command, const std::string& flag);

/// The elements of a comma separated list. Throws std::invalid_argument for an empty list, an empty element (such as
/// after a trailing comma) or an element given twice.
std::vector<std::string> parse_list(std::string_view option, std::string_view text);

/// A whole decimal number from `low` to `high`. Throws std::invalid_argument for anything else.
int parse_integer(std::string_view option, std::string_view text, int low, int high);

/// Throws std::invalid_argument unless `given` is one of `known`. `kind` says what it names ("policy"), `remedy` is
/// appended to the message, after the nearest known name if there is one.
void require_known(std::string_view kind, std::string_view given, std::span<const std::string_view> known,
                   std::string_view remedy);

}  // namespace filch::cli
