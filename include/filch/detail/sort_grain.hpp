// From how many elements on a part of a sort is worth a fork.
#pragma once

#include <algorithm>
#include <cstdint>

#include <filch/detail/worker_core.hpp>
#include <filch/platform/memory.hpp>
#include <filch/platform/ticks.hpp>

namespace filch::detail {

/// Parts of fewer elements are never forked, nor timed, which would cost some per cent of them: their halves are mostly sorted by insertion.
inline constexpr std::uint64_t least_forked = 64;
/// Parts of more always are.
inline constexpr std::uint64_t most_sorted_alone = 1024;

/// As many as take some 20 us, half of which is well worth a theft. Comparisons may take anything, so some are timed: of elements at the
/// beginning, which lie in the cache by then. What is forked does not change the result; but tasks of a repeated part have to be the same
/// each time, so there it is always the most. Called by a worker; throws what a comparison throws.
template <class Iterator, class Compare>
[[nodiscard]] std::uint64_t sort_grain(Iterator first, std::uint64_t n, const Compare& less) {
  constexpr int timed = 8;
  constexpr int comparisons_each = 7;  // that an element takes part in, about, where 64 to 1,024 are sorted
  if (n < least_forked || self->place.path.trace != nullptr) return most_sorted_alone;
  int ascents = 0;
  const std::uint64_t since = platform::ticks();
  platform::signal_fence();
  for (int i = 0; i != timed; ++i) ascents += less(first[i], first[i + 1]) ? 1 : 0;
  // The compiler makes them here, and now.
  [[maybe_unused]] const volatile int made = ascents;
  platform::signal_fence();
  const std::uint64_t took = std::max<std::uint64_t>(platform::ticks() - since, 1);
  return std::clamp(4 * platform::ticks_of_some_us() * timed / (took * comparisons_each), least_forked,
                    most_sorted_alone);
}

}  // namespace filch::detail
