#include "suggestion.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace filch::cli {

namespace {

// Levenshtein distance, one row of the table at a time.
std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t substituted = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string_view nearest_name(std::string_view given, std::span<const std::string_view> known) {
  std::string_view nearest;
  std::size_t nearest_distance = std::max<std::size_t>(2, given.size() / 3) + 1;
  for (const std::string_view name : known) {
    const std::size_t distance = edit_distance(given, name);
    if (distance < nearest_distance) {
      nearest = name;
      nearest_distance = distance;
    }
  }
  return nearest;
}

}  // namespace filch::cli
