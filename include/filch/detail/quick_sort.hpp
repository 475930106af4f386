// Parallel quicksort whose result depends on the elements alone: pivots come from places that a generator chooses by
// the number of elements, and no step asks who runs it.
//
// Large ranges are partitioned by all workers together (partition.hpp), so that no worker waits for the first steps.
// Many equal elements cost little: where the pivot equals the element before its range, all that equal it are set aside
// (the idea is O. Peters's pattern-defeating quicksort). A pivot that lay where it belongs suggests that the range is in
// order, perhaps but for a few elements: then the parts are looked at before they are sorted. Too many bad pivots: heap
// sort.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

#include <filch/detail/partition.hpp>
#include <filch/detail/small_sort.hpp>
#include <filch/detail/sort_grain.hpp>
#include <filch/fork_join.hpp>

namespace filch::detail {

/// Numbers without a pattern, the same for the same seed (splitmix64).
class place_generator {
 public:
  explicit place_generator(std::uint64_t seed) noexcept : state_(seed) {}
  /// Below n, which is below 2^63.
  std::uint64_t below(std::uint64_t n) noexcept {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return (z ^ (z >> 31)) % n;
  }

 private:
  std::uint64_t state_;
};

template <class Iterator, class Compare>
class quick_sort {
 public:
  /// To be made by a worker; throws what a comparison throws.
  quick_sort(Iterator first, Iterator last, const Compare& less)
      : first_(first),
        last_(last),
        less_(less),
        shared_from_(std::max(least_shared, size(first, last) / 64)),
        forked_from_(detail::sort_grain(first, size(first, last), less)) {}

  void operator()() const { sort(first_, last_, 2 * static_cast<int>(std::bit_width(size(first_, last_))), false); }

 private:
  using value_type = std::iter_value_t<Iterator>;
  using offset = std::iter_difference_t<Iterator>;

  /// Ranges below this are partitioned by one worker. So are those below 1/64 of all elements: by then there are enough
  /// of them for everybody.
  static constexpr std::uint64_t least_shared = std::uint64_t{1} << 16;

  /// What is compared with the pivot: a copy in registers where that is cheap, otherwise the element itself, which
  /// stays in its place.
  class pivot_value {
   public:
    explicit pivot_value(const value_type& pivot) noexcept : pivot_(pivot) {}
    [[nodiscard]] const value_type& get() const noexcept { return pivot_; }

   private:
    std::conditional_t<cheap_to_copy<value_type>, const value_type, const value_type&> pivot_;
  };

  [[nodiscard]] static std::uint64_t size(Iterator first, Iterator last) noexcept {
    return static_cast<std::uint64_t>(last - first);
  }

  /// `bad_pivots`: how many more of them there may be. `perhaps_sorted`: looks whether it is.
  void sort(Iterator first, Iterator last, int bad_pivots, bool perhaps_sorted) const {
    while (last - first > few_elements) {
      if (perhaps_sorted && is_sorted(first, last)) return;
      const std::uint64_t n = size(first, last);
      if (bad_pivots == 0) {
        heap_sort(first, last, less_)();
        return;
      }
      const Iterator from = bring_pivot(first, n, bad_pivots);
      // The element before a range is the pivot that it was made with.
      if (first != first_ && !less_(*(first - 1), *first)) {
        first = divide(first, last,
                       [this, pivot = pivot_value(*first)](const value_type& x) { return !less_(pivot.get(), x); });
        // So few are equal to it: it was not near the middle.
        if (n - size(first, last) < n / 8) --bad_pivots;
        perhaps_sorted = false;
        continue;
      }
      const Iterator middle = divide(
          first, last, [this, pivot = pivot_value(*first)](const value_type& x) { return less_(x, pivot.get()); });
      const Iterator pivot = middle - 1;
      std::iter_swap(first, pivot);
      if (std::min(size(first, pivot), size(middle, last)) < n / 8) --bad_pivots;
      perhaps_sorted = from == pivot;
      if (n >= forked_from_) {
        filch::fork_join([=, this] { sort(first, pivot, bad_pivots, perhaps_sorted); },
                         [=, this] { sort(middle, last, bad_pivots, perhaps_sorted); });
        return;
      }
      sort(first, pivot, bad_pivots, perhaps_sorted);
      first = middle;
    }
    detail::insertion_sort(first, last, less_);
  }

  [[nodiscard]] bool is_sorted(Iterator first, Iterator last) const {
    return std::is_sorted(first, last, [this](const value_type& x, const value_type& y) { return less_(x, y); });
  }

  /// Partitions all but the first element, which is the pivot.
  template <class Wanted>
  Iterator divide(Iterator first, Iterator last, const Wanted& wanted) const {
    if (size(first, last) < shared_from_) return detail::partition_alone(first + 1, last, wanted);
    return divide_together(first + 1, last, wanted);
  }
  /// Not inlined: each level of the recursion would have its tables on the stack.
  template <class Wanted>
  [[gnu::noinline]] Iterator divide_together(Iterator first, Iterator last, const Wanted& wanted) const {
    return shared_partition(first, last, wanted)();
  }

  /// To the first place. Returns the place where it lay.
  Iterator bring_pivot(Iterator first, std::uint64_t n, int bad_pivots) const {
    place_generator places(n + static_cast<std::uint64_t>(bad_pivots));
    int depth = 1;
    if (n >= 128) depth = 2;
    if (n >= 4096) depth = 3;
    if (n >= (std::uint64_t{1} << 16)) depth = 4;
    if (n >= (std::uint64_t{1} << 20)) depth = 5;
    const Iterator from = about_median(first, n, places, depth);
    std::iter_swap(first, from);
    return from;
  }
  /// Of 3^depth elements: the median of three medians of a third of them.
  Iterator about_median(Iterator first, std::uint64_t n, place_generator& places, int depth) const {
    if (depth == 0) return first + static_cast<offset>(places.below(n));
    const Iterator a = about_median(first, n, places, depth - 1);
    const Iterator b = about_median(first, n, places, depth - 1);
    const Iterator c = about_median(first, n, places, depth - 1);
    if (less_(*b, *a)) {
      if (less_(*c, *b)) return b;
      return less_(*c, *a) ? c : a;
    }
    if (less_(*c, *a)) return a;
    return less_(*c, *b) ? c : b;
  }

  Iterator first_;
  Iterator last_;
  const Compare& less_;
  std::uint64_t shared_from_;
  std::uint64_t forked_from_;
};

}  // namespace filch::detail
