#include "parse_size.hpp"

#include <charconv>
#include <cstddef>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>

#include "printable.hpp"

namespace filch::bench {
namespace {

template <class Number>
Number parse(const size_context& context, std::string_view text, Number low, Number high, std::string_view kind) {
  // A part is named in the reason; where the part is the whole size, the message names it already.
  const std::string subject = text == context.size ? std::string() : fmt::format("has '{}', which ", text);
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool is_number = error != std::errc::invalid_argument && stop == end;
  if (!is_number) reject_size(context, fmt::format("{}is not {}", subject, kind));
  // Written so that a NaN is out of range too.
  const bool in_range = error == std::errc() && value >= low && value <= high;
  if (!in_range) reject_size(context, fmt::format("{}is out of range ({} to {})", subject, low, high));
  return value;
}

}  // namespace

void reject_size(const size_context& context, std::string_view reason) {
  throw std::invalid_argument(printable(
      fmt::format("{0}: size '{1}' {2}; try {0}:{3}", context.workload, context.size, reason, context.example)));
}

std::int64_t parse_whole(const size_context& context, std::string_view text, std::int64_t low, std::int64_t high) {
  return parse(context, text, low, high, "a whole number");
}

double parse_real(const size_context& context, std::string_view text, double low, double high) {
  return parse(context, text, low, high, "a number");
}

size_with_cutoff parse_with_cutoff(const size_context& context, int low, int high) {
  const std::size_t slash = context.size.find('/');
  const int n = static_cast<int>(parse_whole(context, context.size.substr(0, slash), low, high));
  if (slash == std::string_view::npos) return {n, n};
  return {n, static_cast<int>(parse_whole(context, context.size.substr(slash + 1), 1, n))};
}

}  // namespace filch::bench
