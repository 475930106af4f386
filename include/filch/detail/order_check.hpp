// What sorts begin with: is the range in order already, or exactly the other way round?
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include <filch/blocked_range.hpp>
#include <filch/parallel_for.hpp>
#include <filch/parallel_reduce.hpp>

namespace filch::detail {

/// Whether ordered(x, y) holds for all neighbours x, y. At most n - 1 calls; few if the first elements show that not.
template <class Iterator, class Ordered>
bool all_neighbours(Iterator first, Iterator last, const Ordered& ordered) {
  constexpr std::uint64_t looked_at_first = 64;
  using offset = std::iter_difference_t<Iterator>;
  const auto holds = [&](std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t i = from; i != to; ++i) {
      if (!ordered(first[static_cast<offset>(i)], first[static_cast<offset>(i + 1)])) return false;
    }
    return true;
  };
  if (last - first < 2) return true;
  const auto pairs = static_cast<std::uint64_t>(last - first - 1);
  const std::uint64_t few = std::min(pairs, looked_at_first);
  if (!holds(0, few)) return false;
  return filch::parallel_reduce(
      filch::blocked_range<std::uint64_t>(few, pairs), true,
      [&](const auto& part, bool so_far) { return so_far && holds(part.begin(), part.end()); },
      [](bool a, bool b) { return a && b; });
}

/// Sorts a range that is in order, or in strictly descending order; does nothing to others.
/// @return whether the range is sorted now.
template <class Iterator, class Compare>
bool sort_if_in_order(Iterator first, Iterator last, const Compare& less) {
  if (all_neighbours(first, last, [&](const auto& x, const auto& y) { return !less(y, x); })) return true;
  if (!all_neighbours(first, last, [&](const auto& x, const auto& y) { return less(y, x); })) return false;
  using offset = std::iter_difference_t<Iterator>;
  filch::parallel_for(offset{0}, (last - first) / 2,
                      [first, last](offset i) { std::iter_swap(first + i, last - (i + 1)); });
  return true;
}

}  // namespace filch::detail
