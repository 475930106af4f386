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
#include <filch/detail/range_ends.hpp>

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

/// Compares keys of elements; also by what is no object with a call operator, such as a pointer to a member.
template <class Compare, class Key>
struct key_order {
  const Compare& less;
  const Key& key;
  template <class A, class B>
  bool operator()(const A& a, const B& b) const {
    return static_cast<bool>(std::invoke(less, std::invoke(key, a), std::invoke(key, b)));
  }
};

/// An order of T's by their keys.
template <class Compare, class Key, class T>
concept order_of_keys = std::regular_invocable<const Key&, const T&> &&
                        std::predicate<const Compare&, std::invoke_result_t<const Key&, const T&>,
                                       std::invoke_result_t<const Key&, const T&>>;

template <class Range, class Compare, class Key>
concept sortable_range = requires(Range& range) {
  { detail::range_begin(range) } -> sortable_iterator;
  detail::range_end(range);
} && order_of_keys<Compare, Key, std::iter_value_t<decltype(detail::range_begin(std::declval<Range&>()))>>;

/// Calls sort(less) with an order of the elements themselves.
template <class Compare, class Key, class Sort>
void with_order(const Compare& less, const Key& key, const Sort& sort) {
  if constexpr (std::is_same_v<Key, std::identity> && std::is_class_v<Compare>) {
    sort(less);
  } else {
    sort(key_order<Compare, Key>{less, key});
  }
}

}  // namespace detail

/// Sorts [first, last). Elements that compare equal come in an order that is not theirs, but in every run the same.
///
/// Quicksort in place; elements of at most 32 bytes that are trivially copyable are partitioned without branches. A
/// range in ascending or descending order costs little more than looking at it, one with few elements out of place less
/// than others.
///
///     filch::parallel_sort(people, {}, &person::name);
///
/// @param less  less(x, y): whether the element with key x comes before that with y; a strict weak ordering. Called by
///              several threads at the same time. One that is no order, such as < of numbers with NaN, leaves the
///              elements in some order.
/// @param key   key(element): what is compared, each time anew; a pointer to a member will do. Unless given, elements
///              themselves.
/// @throws what a comparison throws; all elements are then in the range, in some order. What moving an element throws;
///         elements may then have any value.
/// @par Complexity O(n log n) comparisons, also of adversarial input. No allocation.
/// @par Thread safety any thread.
template <detail::sortable_iterator Iterator, class Compare = std::less<>, class Key = std::identity>
  requires detail::order_of_keys<Compare, Key, std::iter_value_t<Iterator>>
void parallel_sort(Iterator first, Iterator last, const Compare& less = {}, const Key& key = {}) {
  detail::with_order(less, key, [&](const auto& before) {
    detail::with_pointers(first, last, [&before](auto begin, auto end) {
      if (end - begin <= detail::few_elements) return detail::insertion_sort(begin, end, before);
      detail::on_worker([&] {
        if (!detail::sort_if_in_order<false>(begin, end, before)) detail::quick_sort(begin, end, before)();
      });
    });
  });
}

/// Sorts [first, last) and leaves elements that compare equal in the order in which they are.
///
/// Merge sort with a buffer of the size of the range. A range in ascending or descending order costs little more than
/// looking at it, one that consists of long runs little more than merging them. Elements whose moves may throw are sorted by their places and
/// exchanged at the end.
///
/// @param less, key  as for parallel_sort.
/// @throws what a comparison throws, of several exceptions always the same; all elements are then in the range, in some
///         order. std::bad_alloc if there is no memory for the buffer; the range is then as it was.
/// @par Complexity O(n log n) comparisons; memory for n elements, or n offsets.
/// @par Thread safety any thread.
template <detail::sortable_iterator Iterator, class Compare = std::less<>, class Key = std::identity>
  requires detail::order_of_keys<Compare, Key, std::iter_value_t<Iterator>>
void parallel_stable_sort(Iterator first, Iterator last, const Compare& less = {}, const Key& key = {}) {
  using value_type = std::iter_value_t<Iterator>;
  constexpr bool moves =
      std::is_nothrow_move_constructible_v<value_type> && std::is_nothrow_move_assignable_v<value_type>;
  detail::with_order(less, key, [&](const auto& before) {
    detail::with_pointers(first, last, [&before](auto begin, auto end) {
      if constexpr (moves) {
        if (end - begin <= detail::few_elements) return detail::insertion_sort(begin, end, before);
      } else {
        if (begin == end) return;
      }
      detail::on_worker([&] {
        if (detail::sort_if_in_order<true>(begin, end, before)) return;
        if constexpr (moves) {
          detail::merge_sort(begin, end, before)();
        } else {
          detail::sort_by_places(begin, end, before);
        }
      });
    });
  });
}

/// The same for all elements of a container, an array, or a view.
template <class Range, class Compare = std::less<>, class Key = std::identity>
  requires detail::sortable_range<Range, Compare, Key>
void parallel_sort(Range&& range, const Compare& less = {}, const Key& key = {}) {
  filch::parallel_sort(detail::range_begin(range), detail::range_end(range), less, key);
}
template <class Range, class Compare = std::less<>, class Key = std::identity>
  requires detail::sortable_range<Range, Compare, Key>
void parallel_stable_sort(Range&& range, const Compare& less = {}, const Key& key = {}) {
  filch::parallel_stable_sort(detail::range_begin(range), detail::range_end(range), less, key);
}

namespace detail {

template <class... Arguments>
concept sort_arguments =
    requires(Arguments&&... arguments) { filch::parallel_sort(std::forward<Arguments>(arguments)...); };

template <class... Arguments>
inline constexpr bool are_sort_arguments = false;

template <class... Arguments>
consteval void require_sort_arguments() {
  static_assert(
      are_sort_arguments<Arguments...>,
      "filch: parallel_sort(first, last, less, key) takes random-access iterators, or a range that has them, of "
      "elements "
      "in memory (not of a std::vector<bool>) that can be moved; 'less' compares two keys, and is called by several "
      "threads at the same time and so as a constant (no mutable lambda), as is 'key'");
}

}  // namespace detail

// In place of a hundred lines of errors.
template <class... Arguments>
  requires(!detail::sort_arguments<Arguments...>)
void parallel_sort(Arguments&&... /*arguments*/) {
  detail::require_sort_arguments<Arguments...>();
}
template <class... Arguments>
  requires(!detail::sort_arguments<Arguments...>)
void parallel_stable_sort(Arguments&&... /*arguments*/) {
  detail::require_sort_arguments<Arguments...>();
}

}  // namespace filch
