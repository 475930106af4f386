// What sorts begin with: is the range in order already, or the other way round?
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include <filch/detail/for_blocks.hpp>
#include <filch/fork_join.hpp>
#include <filch/platform/memory.hpp>

namespace filch::detail {

/// Whether ordered(x, y) holds for all neighbours x, y. At most n - 1 calls; few if the first elements show that not. Which
/// calls are made depends on the elements alone, and so does the exception: that of the first neighbours that have one.
template <class Iterator, class Ordered>
bool all_neighbours(Iterator first, Iterator last, const Ordered& ordered) {
  constexpr std::uint64_t looked_at_first = 64;
  constexpr std::uint64_t most_pieces = 2048;
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
  // Pieces of a fixed size, each until it shows that not: blocks are cut by time.
  const std::uint64_t piece = std::max(looked_at_first, pairs / most_pieces + 1);
  platform::atomic<bool> all{true};
  detail::for_blocks((pairs - few + piece - 1) / piece, [&](std::uint64_t i, std::uint64_t end) {
    for (; i != end; ++i) {
      const std::uint64_t from = few + i * piece;
      // relaxed: carries nothing else, and the loop's end orders the last look.
      if (!holds(from, std::min(pairs, from + piece))) all.store(false, std::memory_order_relaxed);
    }
  });
  return all.load(std::memory_order_relaxed);
}

/// Reverses each group of equal elements of a range in descending order.
template <class Iterator, class Compare>
void reverse_equals(Iterator first, Iterator last, const Compare& less) {
  constexpr std::iter_difference_t<Iterator> forked_from = 1024;
  if (last - first < forked_from) {
    for (Iterator group = first; group != last;) {
      Iterator end = group + 1;
      while (end != last && !less(*end, *group)) ++end;
      std::reverse(group, end);
      group = end;
    }
    return;
  }
  const Iterator middle = first + (last - first) / 2;
  const Iterator begin = std::partition_point(first, middle, [&](const auto& x) { return less(*middle, x); });
  const Iterator end = std::partition_point(middle, last, [&](const auto& x) { return !less(x, *middle); });
  std::reverse(begin, end);
  filch::fork_join([&, first] { detail::reverse_equals(first, begin, less); },
                   [&, last] { detail::reverse_equals(end, last, less); });
}

/// Sorts a range that is in order, or the other way round; does nothing to others.
/// @return whether the range is sorted now.
template <bool Stable, class Iterator, class Compare>
bool sort_if_in_order(Iterator first, Iterator last, const Compare& less) {
  if (detail::all_neighbours(first, last, [&](const auto& x, const auto& y) { return !less(y, x); })) return true;
  if (!detail::all_neighbours(first, last, [&](const auto& x, const auto& y) { return !less(x, y); })) return false;
  if constexpr (Stable) detail::reverse_equals(first, last, less);
  using offset = std::iter_difference_t<Iterator>;
  detail::for_blocks(static_cast<std::uint64_t>(last - first) / 2, [first, last](std::uint64_t from, std::uint64_t to) {
    for (auto i = static_cast<offset>(from); i != static_cast<offset>(to); ++i) {
      std::iter_swap(first + i, last - (i + 1));
    }
  });
  return true;
}

/// The same, by the caller alone and stable, of a part of a range: that is in order or strictly descending.
template <class Iterator, class Compare>
bool sort_if_run(Iterator first, Iterator last, const Compare& less) {
  if (last - first < 2) return true;
  Iterator next = first + 1;
  const bool descends = less(*next, *first);
  do {
    if (++next == last) {
      if (descends) std::reverse(first, last);
      return true;
    }
  } while (less(*next, *(next - 1)) == descends);
  return false;
}

}  // namespace filch::detail
