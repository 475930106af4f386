#include "option_value.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>

#include "suggestion.hpp"

namespace filch::cli {

std::optional<std::string> value_of(const CLI::App& command, const std::string& option) {
  const CLI::Option* found = command.get_option(option);
  if (found->count() == 0) {
    return std::nullopt;
  }
  if (found->count() > 1) {
    throw std::invalid_argument(fmt::format("{} is given {} times; give it once ('filch {} --help' shows its form)",
                                            option, found->count(), command.get_name()));
  }
  return found->results().front();
}

bool is_set(const CLI::App& command, const std::string& flag) {
  const std::optional<std::string> value = value_of(command, flag);
  if (value && *value != "true") {
    throw std::invalid_argument(fmt::format("{} takes no value, but '{}' is given; leave the value out", flag, *value));
  }
  return value.has_value();
}

std::vector<std::string> parse_list(std::string_view option, std::string_view text) {
  std::vector<std::string> elements;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view element = rest.substr(0, comma);
    if (element.empty()) {
      throw std::invalid_argument(
          fmt::format("{} '{}' has an empty element; separate values by single commas, as in a,b", option, text));
    }
    if (std::ranges::find(elements, element) != elements.end()) {
      throw std::invalid_argument(fmt::format("{} '{}' names '{}' twice; name it once", option, text, element));
    }
    elements.emplace_back(element);
    if (comma == std::string_view::npos) {
      return elements;
    }
    rest.remove_prefix(comma + 1);
  }
}

int parse_integer(std::string_view option, std::string_view text, int low, int high) {
  int value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number =
      stop == text.data() + text.size() && (error == std::errc{} || error == std::errc::result_out_of_range);
  if (text.empty() || !is_number) {
    throw std::invalid_argument(
        fmt::format("{} '{}' is not a whole number; give one from {} to {}", option, text, low, high));
  }
  if (error == std::errc::result_out_of_range || value < low || value > high) {
    throw std::invalid_argument(
        fmt::format("{} '{}' is out of range; give one from {} to {}", option, text, low, high));
  }
  return value;
}

void require_known(std::string_view kind, std::string_view given, std::span<const std::string_view> known,
                   std::string_view remedy) {
  if (std::ranges::find(known, given) != known.end()) {
    return;
  }
  const std::string_view nearest = nearest_name(given, known);
  const std::string question = nearest.empty() ? std::string{} : fmt::format("did you mean '{}'? ", nearest);
  throw std::invalid_argument(fmt::format("unknown {} '{}'; {}{}", kind, given, question, remedy));
}

}  // namespace filch::cli
