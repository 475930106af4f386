// parallel_for: a loop whose iterations may run in any order and at the same time.
//
// Follows lazy scheduling (Tzannes and others 2014): the caller runs the iterations in serial order, in chunks that it
// sizes itself by the clock, and cuts off a part only when a worker without work asks. No grain has to be given.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>

#include <filch/blocked_range.hpp>
#include <filch/detail/bit_shape.hpp>
#include <filch/detail/landmarks.hpp>
#include <filch/detail/loop_blocks.hpp>
#include <filch/detail/part_call.hpp>
#include <filch/detail/range_ends.hpp>
#include <filch/detail/run_loop.hpp>
#include <filch/detail/shapes.hpp>
#include <filch/detail/weight_sums.hpp>
#include <filch/fork_join.hpp>
#include <filch/loop.hpp>

namespace filch {
namespace detail {

inline splitting with_grain(splitting how, std::size_t of_range) {
  if (of_range > how.grain) how.grain = of_range;
  return how;
}

/// A range that is known by its own operations alone: halved as long as it is divisible.
template <splittable_range Range, class Body>
void run_halves(Range range, Body& body, const std::stop_token* stop) {
  if (range.empty() || (stop != nullptr && stop->stop_requested())) return;
  if (!range.is_divisible()) {
    detail::call_with_part(body, range);
    return;
  }
  Range second(range, split{});
  filch::fork_join([&] { detail::run_halves(std::move(range), body, stop); },
                   [&] { detail::run_halves(std::move(second), body, stop); });
}

template <class First, class Last, class Body>
loop_status run_interval(First first, Last last, Body& body, splitting how, const std::stop_token* stop) {
  if constexpr (bit_place<First>) {
    const bit_shape shape(first, std::ranges::next(first, last));
    how.grain = shape.grain_from(how.grain);
    return detail::run_loop(detail::block_of(shape, body), how, stop);
  } else {
    static_assert(
        !leads_to_bits<First>,
        "filch: these iterators lead to elements of a std::vector<bool> that share words, which two workers must "
        "not change at the same time. Loop over the vector itself, or over a constant one if they are only read");
    return detail::with_shape(std::move(first), std::move(last), [&](const auto& shape) {
      return detail::run_loop(detail::block_of(shape, body), how, stop);
    });
  }
}

template <class Range, class Body>
loop_status run_range(const Range& range, Body& body, splitting how, const std::stop_token* stop) {
  if constexpr (bit_range<Range>) {
    const auto shape = detail::bit_shape_of(range);
    how.grain = shape.grain_from(detail::with_grain(how, detail::grain_of(range)).grain);
    return detail::run_loop(detail::block_of(shape, body), how, stop);
  } else if constexpr (shaped_range<Range>) {
    static_assert(
        !leads_to_bits<Range>,
        "filch: this range leads to elements of a std::vector<bool> that share words, which two workers must "
        "not change at the same time. Loop over a blocked_range of the vector's own iterators, or of constant "
        "ones if they are only read");
    return detail::run_loop(detail::block_of(detail::shape_of(range), body),
                            detail::with_grain(how, detail::grain_of(range)), stop);
  } else {
    if (how.kind != loop_kind::inherited && self != &foreign_worker) static_cast<void>(checked_kind(*self, how.kind));
    detail::run_halves(range, body, stop);
    return stop != nullptr && stop->stop_requested() ? loop_status::stopped : loop_status::complete;
  }
}

}  // namespace detail

/// Calls body(i) for every i in [first, last), or, for iterators, body(*i). Returns when all have run.
///
/// A loop may be inside of another one, of a task, or of a thread that is no worker.
///
/// @param first, last  bounds; an empty loop when not first < last. Any integers, also beyond 32 bits. (A negative one
///              beside an unsigned one of 64 bits throws std::invalid_argument.) Or iterators that can be gone through
///              more than once, and a sentinel: without random access (lists, maps, filters) the caller first walks from
///              first to last, and remembers at most 8,192 of them. Elements of a std::vector<bool> are changed in whole
///              words, also in reverse, and in a blocked_range of its iterators: the 64 of a word by one worker. Other
///              iterators by which they can be changed (those of most views) do not compile. A loop over numbers that
///              changes them has to see to it itself.
/// @param body  anything that can be called with std::invoke, also a pointer to a member; copied at will if it is small and trivially copyable, otherwise called where it is, by several threads
///              at the same time.
/// @param how   how to split the loop; by default as the scheduler says (options::loop).
/// @throws what an iteration throws; of several, what the lowest one throws. Those below it all run; others may be
///         skipped. std::invalid_argument if `how` is loop::standard and the policy's owners cannot be asked for work.
/// @par Complexity no allocation and no atomic read-modify-write unless somebody asks for work.
/// @par Thread safety any thread.
template <class First, class Last, class Body>
  requires detail::loop_bounds<First, Last>
void parallel_for(First first, Last last, Body&& body, splitting how = {}) {
  detail::run_interval(first, last, body, how, nullptr);
}

template <class First, class Last, class... Rest>
  requires detail::other_bounds<First, Last>
void parallel_for(First /*first*/, Last /*last*/, Rest&&... /*rest*/) {
  detail::require_loop_bounds<First, Last>();
}

/// The same in chunks of at least `grain` iterations; 0: as many as take about a microsecond.
template <class First, class Last, class Body>
  requires detail::loop_bounds<First, Last>
void parallel_for(First first, Last last, Body&& body, std::size_t grain) {
  detail::run_interval(first, last, body, {.grain = grain}, nullptr);
}

/// The same with hints of how much work the iterations do.
/// @throws std::invalid_argument in addition: the list is too short; or, in builds that check contracts, one of its entries
///         is less than the one before it, or no number.
template <class First, class Last, class Body>
  requires detail::loop_bounds<First, Last>
void parallel_for(First first, Last last, Body&& body, weights hints) {
  detail::with_shape(first, last, [&](const auto& shape) {
    const detail::weight_sums sums(shape, hints);
    if constexpr (detail::leads_to_bits<First>) {
      detail::run_interval(first, last, body, {}, nullptr);
    } else {
      detail::run_loop(detail::block_of(shape, body), {}, nullptr, &sums);
    }
  });
}

/// The same for everything in a container, an array, or a view, as a range-based for loop goes through it. If the items are
/// made anew for each look at them (a view), body gets what that loop would.
template <detail::iterable Range, class Body>
void parallel_for(Range&& range, Body&& body, splitting how = {}) {
  filch::parallel_for(detail::range_begin(range), detail::range_end(range), body, how);
}
template <detail::iterable Range, class Body>
void parallel_for(Range&& range, Body&& body, std::size_t grain) {
  filch::parallel_for(detail::range_begin(range), detail::range_end(range), body, splitting{.grain = grain});
}
template <detail::iterable Range, class Body>
void parallel_for(Range&& range, Body&& body, weights hints) {
  filch::parallel_for(detail::range_begin(range), detail::range_end(range), body, hints);
}

namespace detail {

template <class First, class Last, class Step, class Body>
loop_status run_steps(First first, Last last, Step step, Body& body, splitting how, const std::stop_token* stop) {
  using value = typename bound_of<First, Last>::type;
  if (!(step > 0)) {
    throw std::invalid_argument("filch: step '" + std::to_string(step) + "' of a loop is not positive; use 1 or more");
  }
  const blocked_range<value> range(detail::converted_bound<value>(first), detail::converted_bound<value>(last));
  const auto width = static_cast<std::uint64_t>(step);
  const std::uint64_t n = range.size() / width + (range.size() % width != 0 ? 1 : 0);
  // A step that the bounds' type may have no room for is added modulo 2^64.
  constexpr bool has_room = static_cast<std::uint64_t>(std::numeric_limits<Step>::max()) <=
                            static_cast<std::uint64_t>(std::numeric_limits<value>::max());
  using stride = std::conditional_t<has_room, value, std::uint64_t>;
  using shape = index_shape<value, stride>;
  return detail::run_loop(
      detail::block_of(shape(range.begin(), n > 1 ? static_cast<stride>(step) : stride{1}, n), body), how, stop);
}

}  // namespace detail

/// The same for every `step`-th integer: first, first + step, and so on, below last.
/// The body gets what it would get without a step: the step's type does not matter.
/// @throws std::invalid_argument if step is not positive, or if one bound is negative and the other one has no signed type that
///         has room for both.
template <detail::loop_number First, detail::loop_number Last, detail::loop_number Step, class Body>
  requires(!std::convertible_to<Body, splitting>)
void parallel_for(First first, Last last, Step step, Body&& body, splitting how = {}) {
  detail::run_steps(first, last, step, body, how, nullptr);
}

/// Calls body(part) for disjoint parts of the range that together are all of it.
///
/// @param range  a blocked_range of one, two or three dimensions, whose parts are sized at run time, or any other
///               splittable range, which is halved until it is not divisible. A range's grainsize is a lower bound for
///               the parts, but for the ends.
/// @param body   called with std::invoke and a constant part; one that takes `Range&` alone with a variable of its own.
/// The rest as above; of several exceptions the one of the lowest part is thrown.
template <splittable_range Range, class Body>
void parallel_for(const Range& range, Body&& body, splitting how = {}) {
  detail::run_range(range, body, how, nullptr);
}
/// The same with hints of how much work the iterations do: of a blocked_range of two dimensions, its rows; of three, its
/// pages.
/// @throws std::invalid_argument if the list is shorter than the range; in builds that check contracts, if it does not
///         grow.
template <detail::shaped_range Range, class Body>
void parallel_for(const Range& range, Body&& body, weights hints) {
  const auto shape = detail::shape_of(range);
  const detail::weight_sums sums(shape, hints);
  if constexpr (detail::leads_to_bits<Range>) {
    detail::run_range(range, body, {}, nullptr);
  } else {
    detail::run_loop(detail::block_of(shape, body), {.grain = detail::grain_of(range)}, nullptr, &sums);
  }
}

/// The same loops, which end early once a stop is requested: iterations that have not begun by then may be skipped. `how` may be
/// left out.
/// @return whether a stop was requested.
template <class First, class Last, class Body>
  requires detail::loop_bounds<First, Last>
loop_status parallel_for(First first, Last last, Body&& body, splitting how, const std::stop_token& stop) {
  return detail::run_interval(first, last, body, how, &stop);
}
template <detail::loop_number First, detail::loop_number Last, detail::loop_number Step, class Body>
loop_status parallel_for(First first, Last last, Step step, Body&& body, splitting how, const std::stop_token& stop) {
  return detail::run_steps(first, last, step, body, how, &stop);
}
template <detail::iterable Range, class Body>
loop_status parallel_for(Range&& range, Body&& body, splitting how, const std::stop_token& stop) {
  return filch::parallel_for(detail::range_begin(range), detail::range_end(range), body, how, stop);
}
template <splittable_range Range, class Body>
loop_status parallel_for(const Range& range, Body&& body, splitting how, const std::stop_token& stop) {
  return detail::run_range(range, body, how, &stop);
}
// The type is a parameter of the template, so that an argument {} is no stop_token.
template <class First, class Last, class Body, std::same_as<std::stop_token> Stop>
  requires detail::loop_bounds<First, Last>
loop_status parallel_for(First first, Last last, Body&& body, const Stop& stop) {
  return detail::run_interval(first, last, body, {}, &stop);
}
template <detail::loop_number First, detail::loop_number Last, detail::loop_number Step, class Body,
          std::same_as<std::stop_token> Stop>
loop_status parallel_for(First first, Last last, Step step, Body&& body, const Stop& stop) {
  return detail::run_steps(first, last, step, body, {}, &stop);
}
template <detail::iterable Range, class Body, std::same_as<std::stop_token> Stop>
loop_status parallel_for(Range&& range, Body&& body, const Stop& stop) {
  return filch::parallel_for(detail::range_begin(range), detail::range_end(range), body, stop);
}
template <splittable_range Range, class Body, std::same_as<std::stop_token> Stop>
loop_status parallel_for(const Range& range, Body&& body, const Stop& stop) {
  return detail::run_range(range, body, {}, &stop);
}

}  // namespace filch
