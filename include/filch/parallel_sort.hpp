// parallel_sort and parallel_stable_sort. The result is the same with any number of workers and in every run, also
// where elements differ that compare equal: what is compared with what depends on the elements alone.
#pragma once

#include <concepts>
#include <functional>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

#include <filch/detail/merge_sort.hpp>
#include <filch/detail/on_worker.hpp>
#include <filch/detail/order_check.hpp>
#include <filch/detail/quick_sort.hpp>

namespace filch {
namespace detail {

/// Random access to objects that can be exchanged, not to stand-ins for them (as those of std::vector<bool>).
template <class Iterator>
concept sortable_iterator = std::random_access_iterator<Iterator> && std::permutable<Iterator> &&
                            std::same_as<std::iter_reference_t<Iterator>, std::iter_value_t<Iterator>&>;

/// Calls sort(first, last), with pointers where the elements lie side by side: fewer types to compile, and no checks.
template <class Iterator, class Sort>
void with_pointers(Iterator first, Iterator last, const Sort& sort) {
  if constexpr (std::contiguous_iterator<Iterator>) {
    sort(std::to_address(first), std::to_address(first) + (last - first));
  } else {
    sort(first, last);
  }
}

}  // namespace detail

/// Sorts [first, last). Elements that compare equal come in an order that is not theirs, but in every run the same.
///
/// Quicksort in place; elements of at most 32 bytes that are trivially copyable are partitioned without branches. A
/// range in ascending or descending order costs little more than looking at it, one with few elements out of place less
/// than others.
///
/// @param less  less(x, y): whether x comes before y; a strict weak ordering. Called by several threads at the same
///              time. One that is no order, such as < of numbers with NaN, leaves the elements in some order.
/// @throws what a comparison throws; all elements are then in the range, in some order.
/// @par Complexity O(n log n) comparisons, also of adversarial input. No allocation.
/// @par Thread safety any thread.
template <detail::sortable_iterator Iterator, class Compare = std::less<>>
  requires std::predicate<const Compare&, std::iter_reference_t<Iterator>, std::iter_reference_t<Iterator>>
void parallel_sort(Iterator first, Iterator last, const Compare& less = {}) {
  detail::with_pointers(first, last, [&less](auto begin, auto end) {
    if (begin == end) return;
    detail::on_worker([&] {
      if (!detail::sort_if_in_order<false>(begin, end, less)) detail::quick_sort(begin, end, less)();
    });
  });
}

/// Sorts [first, last) and leaves elements that compare equal in the order in which they are.
///
/// Merge sort with a buffer of the size of the range. A range in ascending or descending order costs little more than
/// looking at it, one that consists of long runs little more than merging them. Elements whose moves may throw are sorted by their places and
/// exchanged at the end.
///
/// @param less  as for parallel_sort.
/// @throws what a comparison throws, of several exceptions always the same; all elements are then in the range, in some
///         order. std::bad_alloc if there is no memory for the buffer; the range is then as it was.
/// @par Complexity O(n log n) comparisons; memory for n elements, or n offsets.
/// @par Thread safety any thread.
template <detail::sortable_iterator Iterator, class Compare = std::less<>>
  requires std::predicate<const Compare&, std::iter_reference_t<Iterator>, std::iter_reference_t<Iterator>>
void parallel_stable_sort(Iterator first, Iterator last, const Compare& less = {}) {
  using value_type = std::iter_value_t<Iterator>;
  detail::with_pointers(first, last, [&less](auto begin, auto end) {
    if (begin == end) return;
    detail::on_worker([&] {
      if (detail::sort_if_in_order<true>(begin, end, less)) return;
      if constexpr (std::is_nothrow_move_constructible_v<value_type> && std::is_nothrow_move_assignable_v<value_type>) {
        detail::merge_sort(begin, end, less)();
      } else {
        detail::sort_by_places(begin, end, less);
      }
    });
  });
}

/// The same for all elements of a container, an array, or a view.
template <class Range, class Compare = std::less<>>
  requires detail::sortable_iterator<decltype(std::begin(std::declval<Range&>()))>
void parallel_sort(Range&& range, const Compare& less = {}) {
  parallel_sort(std::begin(range), std::end(range), less);
}
template <class Range, class Compare = std::less<>>
  requires detail::sortable_iterator<decltype(std::begin(std::declval<Range&>()))>
void parallel_stable_sort(Range&& range, const Compare& less = {}) {
  parallel_stable_sort(std::begin(range), std::end(range), less);
}

}  // namespace filch
