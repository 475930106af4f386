// Reads the numbers of a size as written behind a workload's name. Strict: the whole text, no sign, no white space.
#pragma once

#include <cstdint>
#include <string_view>

namespace filch::bench {

/// How errors speak of the size being read.
struct size_context {
  std::string_view workload;  ///< The workload's name.
  std::string_view size;      ///< The whole size as given.
  std::string_view example;   ///< A size that works.
};

/// Throws std::invalid_argument, one line: "WORKLOAD: size 'SIZE' REASON; try WORKLOAD:EXAMPLE".
[[noreturn]] void reject_size(const size_context& context, std::string_view reason);

/// `text` (the size or a part of it) as a whole number in [low, high]; otherwise throws as `reject_size` does.
std::int64_t parse_whole(const size_context& context, std::string_view text, std::int64_t low, std::int64_t high);

/// `text` as a real number in [low, high]; otherwise throws as `reject_size` does.
double parse_real(const size_context& context, std::string_view text, double low, double high);

/// Sizes "n" and "n/d" of recursive problems: nothing is divided from level d on, from 1 to n; without it d is n.
struct size_with_cutoff {
  int n;
  int cutoff;
};

/// The whole size, n in [low, high]; otherwise throws as `reject_size` does.
size_with_cutoff parse_with_cutoff(const size_context& context, int low, int high);

}  // namespace filch::bench
