// for_each_dynamic: a loop over items, to which its iterations may add further ones.
#pragma once

#include <concepts>
#include <iterator>
#include <stop_token>
#include <utility>

#include <filch/bag.hpp>
#include <filch/detail/bit_shape.hpp>
#include <filch/detail/range_ends.hpp>
#include <filch/detail/shapes.hpp>
#include <filch/work_bag.hpp>

namespace filch {
namespace detail {

template <std::input_iterator First, std::sentinel_for<First> Last>
work_bag<std::iter_value_t<First>> bag_of(First first, Last last) {
  static_assert(
      !refers_to_bit<std::iter_value_t<First>>,
      "filch: these items refer to elements of a std::vector<bool> that share words, which two workers must not "
      "change at the same time. Loop over the vector itself, whose values are copied");
  work_bag<std::iter_value_t<First>> bag;
  if constexpr (std::sized_sentinel_for<Last, First>) {
    if (first != last) bag.reserve(static_cast<std::size_t>(last - first));
  }
  for (; first != last; ++first) bag.emplace(*first);
  return bag;
}

}  // namespace detail

/// Calls body(item, more) once for every item of [first, last), and for every item that bodies add by
/// `more.push(item)`; or body(item), if that adds nothing. The order is unspecified. Returns when all have been processed.
///
///     filch::for_each_dynamic(roots.begin(), roots.end(), [](node*& n, filch::feeder<node*>& more) {
///       visit(*n);
///       for (node* child : n->children) more.push(child);
///     });
///
/// @param first, last  any iterators. The items are copied, or with std::move_iterator moved.
/// The rest as work_bag::process; items that are dropped are the copies.
/// @par Thread safety any thread.
template <std::input_iterator First, std::sentinel_for<First> Last, class Body>
  requires bag_processor<Body, std::iter_value_t<First>>
void for_each_dynamic(First first, Last last, Body&& body, sharing how = {}) {
  detail::bag_of(std::move(first), std::move(last)).process(body, how);
}
/// The same for all items of a container, an array, or a view, which are copied.
template <detail::iterable Range, class Body>
  requires bag_processor<Body, std::iter_value_t<decltype(detail::range_begin(std::declval<Range&>()))>>
void for_each_dynamic(Range&& range, Body&& body, sharing how = {}) {
  filch::for_each_dynamic(detail::range_begin(range), detail::range_end(range), body, how);
}

/// The same, which ends early once a stop is requested: items whose body has not begun by then may be dropped. `how` may be
/// left out.
/// @return whether a stop was requested.
template <std::input_iterator First, std::sentinel_for<First> Last, class Body>
  requires bag_processor<Body, std::iter_value_t<First>>
loop_status for_each_dynamic(First first, Last last, Body&& body, sharing how, const std::stop_token& stop) {
  return detail::bag_of(std::move(first), std::move(last)).process(body, how, stop);
}
template <detail::iterable Range, class Body>
  requires bag_processor<Body, std::iter_value_t<decltype(detail::range_begin(std::declval<Range&>()))>>
loop_status for_each_dynamic(Range&& range, Body&& body, sharing how, const std::stop_token& stop) {
  return filch::for_each_dynamic(detail::range_begin(range), detail::range_end(range), body, how, stop);
}
template <std::input_iterator First, std::sentinel_for<First> Last, class Body, std::same_as<std::stop_token> Stop>
  requires bag_processor<Body, std::iter_value_t<First>>
loop_status for_each_dynamic(First first, Last last, Body&& body, const Stop& stop) {
  return detail::bag_of(std::move(first), std::move(last)).process(body, stop);
}
template <detail::iterable Range, class Body, std::same_as<std::stop_token> Stop>
  requires bag_processor<Body, std::iter_value_t<decltype(detail::range_begin(std::declval<Range&>()))>>
loop_status for_each_dynamic(Range&& range, Body&& body, const Stop& stop) {
  return filch::for_each_dynamic(detail::range_begin(range), detail::range_end(range), body, stop);
}

}  // namespace filch
