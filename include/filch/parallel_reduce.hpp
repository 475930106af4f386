// parallel_reduce: combines the values of all iterations of a loop. The result has the same bits with any number of
// workers and in every run, also where the combination rounds: it follows one fixed tree (DESIGN section 2, rule 8).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include <filch/blocked_range.hpp>
#include <filch/detail/loop_blocks.hpp>
#include <filch/detail/reduction_tree.hpp>
#include <filch/detail/shapes.hpp>
#include <filch/scheduler.hpp>

namespace filch {
namespace detail {

/// Iterations of a leaf.
inline std::uint64_t leaf_size(std::uint64_t n, std::uint64_t grain) noexcept {
  return grain != 0 ? grain : std::max<std::uint64_t>(1, n / most_leaves + (n % most_leaves != 0 ? 1 : 0));
}

template <class T, class Leaf, class Combine>
T reduce_leaves(std::uint64_t leaves, const Leaf& leaf, const Combine& combine) {
  const auto tree = [&] { return reduction_tree<T, Leaf, Combine>(leaf, combine).value(leaves); };
  if (self == &foreign_worker) [[unlikely]]
    return scheduler::default_scheduler().run(tree);
  return tree();
}

/// interval(low, high) makes the value of the iterations [low, high). n > 0.
template <class T, class Interval, class Combine>
T reduce_intervals(std::uint64_t n, std::uint64_t grain, const Interval& interval, const Combine& combine) {
  const std::uint64_t size = leaf_size(n, grain);
  // Leaves of one iteration apart: the compiler then knows that they contain no loop.
  if (size == 1) return reduce_leaves<T>(n, [interval](std::uint64_t i) -> T { return interval(i, i + 1); }, combine);
  return reduce_leaves<T>(
      n / size + (n % size != 0 ? 1 : 0),
      [&](std::uint64_t i) -> T { return interval(i * size, i * size + std::min(n - i * size, size)); }, combine);
}

/// Any splittable range: the tree is that of its halves.
template <class T, class Range, class Body, class Combine>
T reduce_halves(Range range, const T& identity, const Body& body, const Combine& combine) {
  if (!range.is_divisible()) return body(static_cast<const Range&>(range), T(identity));
  Range second(range, split{});
  auto [a, b] = filch::fork_join([&]() -> T { return reduce_halves<T>(std::move(range), identity, body, combine); },
                                 [&]() -> T { return reduce_halves<T>(std::move(second), identity, body, combine); });
  return combine(std::move(a), std::move(b));
}

}  // namespace detail

/// Combines body(part, identity) of all parts of a range: body adds the values of one part to what it is given.
///
/// @param range     as for parallel_for. With a blocked_range, parts have `grainsize` iterations or, without one,
///                  1/2048 of all, rounded up.
/// @param identity  combine(identity, x) is x. Returned for an empty range.
/// @param body      body(const Range&, T) -> T.
/// @param combine   combine(T, T) -> T, associative but for rounding; called for neighbours, the left one first. Both
///                  are called by several threads at the same time.
/// @throws what body or combine throws; of several exceptions the one of the leftmost part.
/// @par Complexity no allocation; no atomic read-modify-write unless somebody asks for work. Parts that together take
///                 less than about a microsecond are not shared.
/// @par Thread safety any thread.
template <splittable_range Range, class T, class Body, class Combine>
T parallel_reduce(const Range& range, const T& identity, const Body& body, const Combine& combine) {
  if (range.empty()) return identity;
  if constexpr (requires { detail::shape_of(range); }) {
    const auto shape = detail::shape_of(range);
    return detail::reduce_intervals<T>(
        shape.size(), detail::grain_of(range),
        [&](std::uint64_t low, std::uint64_t high) -> T {
          T sum = identity;
          std::uint64_t at = low;
          shape.visit(low, high, at, [&](const Range& part) { sum = body(part, std::move(sum)); });
          return sum;
        },
        combine);
  } else {
    return detail::reduce_halves<T>(range, identity, body, combine);
  }
}

/// Combines `init` and value(i) for every i in [first, last), or value(*i) for random-access iterators.
///
/// @param grain  iterations that are combined one after the other; 0: 1/2048 of all, rounded up.
/// The rest as above.
template <class First, class Last, class T, class Value, class Combine = std::plus<>>
  requires detail::loop_bounds<First, Last>
T parallel_reduce(First first, Last last, const T& init, const Value& value, const Combine& combine = {},
                  std::size_t grain = 0) {
  const auto shape = detail::shape_of(first, last);
  if (shape.size() == 0) return init;
  using item = decltype(shape.item(0));
  const detail::held_body<const Value, detail::by_value<Value, item>> held{value};
  return combine(T(init), detail::reduce_intervals<T>(
                              shape.size(), grain,
                              [shape, held, &combine](std::uint64_t low, std::uint64_t high) -> T {
                                T sum = held.get()(shape.item(low));
                                for (std::uint64_t i = low + 1; i != high; ++i) {
                                  sum = combine(std::move(sum), held.get()(shape.item(i)));
                                }
                                return sum;
                              },
                              combine));
}

}  // namespace filch
