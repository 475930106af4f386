// parallel_reduce: combines the values of all iterations of a loop. The result has the same bits with any number of
// workers and in every run, also where the combination rounds: it follows one fixed tree.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <filch/blocked_range.hpp>
#include <filch/detail/landmarks.hpp>
#include <filch/detail/loop_blocks.hpp>
#include <filch/detail/part_call.hpp>
#include <filch/detail/range_ends.hpp>
#include <filch/detail/reduction_tree.hpp>
#include <filch/detail/run_loop.hpp>
#include <filch/detail/shapes.hpp>
#include <filch/detail/weight_sums.hpp>
#include <filch/fork_join.hpp>
#include <filch/scheduler.hpp>

namespace filch {
namespace detail {

/// Leaves of a reduction that says no grain, at most. Each has a value of its own, which begins as a copy and is combined
/// in the end; for a histogram, a string or a map that takes long.
template <class T>
inline constexpr std::uint64_t most_leaves_of =
    std::is_trivially_copy_constructible_v<T> && sizeof(T) <= 64 ? most_leaves : 128;

/// Iterations of a leaf.
template <class T>
std::uint64_t leaf_size(std::uint64_t n, std::uint64_t grain) noexcept {
  constexpr std::uint64_t most = most_leaves_of<T>;
  return grain != 0 ? grain : std::max<std::uint64_t>(1, n / most + (n % most != 0 ? 1 : 0));
}

/// Do these give the same bits in whatever order they combine values of T? Of other functions nobody knows.
template <class T, class Combine>
inline constexpr bool is_exact_combination = false;
template <std::integral T, template <class> class Operation, class Argument>
  requires(std::is_void_v<Argument> || std::is_same_v<Argument, T>)
inline constexpr bool is_exact_combination<T, Operation<Argument>> =
    std::is_same_v<Operation<Argument>, std::plus<Argument>> ||
    std::is_same_v<Operation<Argument>, std::multiplies<Argument>> ||
    std::is_same_v<Operation<Argument>, std::bit_and<Argument>> ||
    std::is_same_v<Operation<Argument>, std::bit_or<Argument>> ||
    std::is_same_v<Operation<Argument>, std::bit_xor<Argument>>;

/// The user's combination, whose result is made a value: that of two characters is an int.
template <class T, class Combine>
struct value_combiner {
  const Combine& combine;
  template <class A, class B>
  T operator()(A&& a, B&& b) const {
    return static_cast<T>(std::invoke(combine, std::forward<A>(a), std::forward<B>(b)));
  }
};

/// A worker has room for some twenty values on its stack, for 65 while it makes a node. Larger ones, in bytes, are
/// boxed: reductions may be nested.
inline constexpr std::size_t most_on_stack = 256;

/// make() makes a large value where it is to be. Not inlined: what that needs on the stack is not part of its callers' frames,
/// which may be those of a recursion.
template <class T, class Make>
[[gnu::noinline]] std::unique_ptr<T> boxed(const Make& make) {
  return std::unique_ptr<T>(new T(make()));
}

inline std::optional<weight_sums> of_every(const weight_sums* hints, std::uint64_t numbers) noexcept {
  return hints == nullptr ? std::nullopt : std::optional(hints->of_every(numbers));
}

/// make_leaf() makes what makes the value of a leaf: where it is kept, since copies of what has just been written cost.
/// Workers share nodes of 2^`shift` leaves, most_leaves of them at most.
template <class T, class MakeLeaf, class Combine>
[[gnu::always_inline]] inline T reduce_shared(std::uint64_t leaves, unsigned shift, const MakeLeaf& make_leaf,
                                              const Combine& combine, const weight_sums* hints) {
  reduction_result<T> result(leaves, shift);
  const reduction_block<T, decltype(make_leaf()), Combine> block{make_leaf(), combine, result};
  detail::run_loop(block, {}, nullptr, hints);
  return result.take();
}

/// The value of the node of `size` leaves from `first` on, or those of them that there are, which one worker makes.
template <class T, class Leaf, class Combine>
T reduce_node(tree_node node, std::uint64_t leaves, const Leaf& leaf, const Combine& combine) {
  const std::uint64_t m = std::min(node.size, leaves - node.first);
  if constexpr (makes_nodes<Leaf>) {
    return leaf.node(node.first, node.first + m);
  } else {
    // A node begins at a multiple of its size, so it is itself a tree, of leaves from 0 on: one value of each size.
    open_values<T, std::numeric_limits<std::uint64_t>::digits + 1> values;
    values.add_leaves(0, m, [&](std::uint64_t i) -> T { return leaf(node.first + i); }, combine);
    values.end(m, m, combine);
    return values.pop();
  }
}

/// Makes the values of nodes, by a call through a pointer: one loop over nodes for all leaves of a type.
template <class T>
struct node_maker {
  const void* of;
  T (*make)(const void* of, std::uint64_t i);
  T operator()(std::uint64_t i) const { return make(of, i); }
};

/// More leaves than workers share: they share nodes of the same tree.
template <class T, class Leaf, class Combine>
[[gnu::noinline]] T reduce_nodes(std::uint64_t leaves, const Leaf& leaf, const Combine& combine,
                                 const weight_sums* hints) {
  const std::uint64_t size = std::bit_ceil(leaves / most_leaves + 1);
  const std::optional<weight_sums> of_nodes = of_every(hints, size);
  const auto node = [&](std::uint64_t i) -> T {
    return detail::reduce_node<T>({i * size, size}, leaves, leaf, combine);
  };
  const node_maker<T> nodes{
      &node, [](const void* of, std::uint64_t i) -> T { return (*static_cast<const decltype(node)*>(of))(i); }};
  return detail::reduce_shared<T>((leaves - 1) / size + 1, 0, [&] { return nodes; }, combine,
                                  of_nodes ? &*of_nodes : nullptr);
}

template <class T, class MakeLeaf, class Combine>
[[gnu::always_inline]] inline T reduce_leaves(std::uint64_t leaves, const MakeLeaf& make_leaf, const Combine& combine,
                                              const weight_sums* hints) {
  if constexpr (sizeof(T) > most_on_stack) {
    using box = std::unique_ptr<T>;
    const auto leaf = make_leaf();
    const auto boxed_leaf = [&](std::uint64_t i) { return detail::boxed<T>([&] { return leaf(i); }); };
    const auto boxed_combine = [&](box a, box b) {
      return detail::boxed<T>([&] { return combine(std::move(*a), std::move(*b)); });
    };
    return std::move(*detail::reduce_leaves<box>(leaves, [&] { return boxed_leaf; }, boxed_combine, hints));
  } else {
    if (leaves > most_leaves) [[unlikely]]
      return detail::reduce_nodes<T>(leaves, make_leaf(), combine, hints);
    return detail::reduce_shared<T>(leaves, 0, make_leaf, combine, hints);
  }
}

/// Single iterations as leaves, if that is how so many are combined; workers may share several at a time.
template <class T, class Sums>
[[nodiscard]] bool are_single(std::uint64_t n, std::uint64_t grain) noexcept {
  if (grain > 1) return false;
  constexpr bool prefers_rows = Sums::prefers_rows && most_leaves_of<T> == most_leaves;
  return n <= (prefers_rows && grain == 0 ? most_singles : most_leaves_of<T>);
}

/// The values of a loop over single items.
template <class T, class Shape, class Held, class Combine>
struct item_sums {
  static constexpr bool is_exact = is_exact_combination<T, Combine>;
  /// A row of single items costs less than a leaf of a few, which finds its first one and goes on from there.
  static constexpr bool prefers_rows = requires { requires Shape::has_cheap_places; };
  Shape shape;
  Held held;
  value_combiner<T, Combine> combine;

  [[nodiscard, gnu::always_inline]] T one(std::uint64_t i) const { return at(shape.place_of(i)); }
  [[nodiscard]] T interval(std::uint64_t low, std::uint64_t high) const {
    if constexpr (std::is_floating_point_v<T>) return in_rows(low, high);
    // A sum of integers is vectorised.
    T sum = one(low);
    if (low + 1 == high) return sum;
    std::uint64_t failed = low;
    shape.visit(low + 1, high, failed,
                [&](const typename Shape::place& place) { sum = combine(std::move(sum), at(place)); });
    return sum;
  }

 private:
  /// Eight numbers at a time in a tree of their own: else each combination waits for the one before. A sum of doubles takes
  /// a quarter of the time. Not values of classes: they may be compared, and the larger of two neighbours is hard to
  /// guess, while the largest so far seldom changes.
  [[nodiscard]] T in_rows(std::uint64_t low, std::uint64_t high) const {
    constexpr std::uint64_t row = 8;
    typename Shape::place place = shape.place_of(low);
    const auto next = [&](std::uint64_t /*i*/) -> T {
      T value = at(place);
      shape.advance(place);
      return value;
    };
    std::uint64_t left = high - low;
    const std::uint64_t first = left < row ? 1 : row;
    T sum = first == 1 ? next(0) : detail::combine_node<row>(next, combine);
    for (left -= first; left >= row; left -= row)
      sum = combine(std::move(sum), detail::combine_node<row>(next, combine));
    for (; left != 0; --left) sum = combine(std::move(sum), next(0));
    return sum;
  }
  [[nodiscard, gnu::always_inline]] T at(const typename Shape::place& place) const {
    return static_cast<T>(std::invoke(held.get(), shape.item(place)));
  }
};

/// The values of a loop over parts of a range.
template <class T, class Shape, class Body>
struct range_sums {
  static constexpr bool is_exact = false;  // the body is promised parts of a certain size
  static constexpr bool prefers_rows = false;
  using range = typename Shape::range;
  Shape shape;
  const T& identity;
  const Body& body;

  [[nodiscard]] T one(std::uint64_t i) const { return interval(i, i + 1); }
  [[nodiscard]] T interval(std::uint64_t low, std::uint64_t high) const {
    T sum = identity;
    std::uint64_t at = low;
    shape.visit(low, high, at,
                [&](const range& part) { sum = static_cast<T>(detail::call_with_part(body, part, std::move(sum))); });
    return sum;
  }
};

/// Leaves of one iteration. Inlined, so that the compiler sees what they have in common.
template <class T, class Sums>
struct single_iterations {
  static constexpr bool are_alike = true;
  Sums sums;
  [[gnu::always_inline]] T operator()(std::uint64_t i) const { return sums.one(i); }
  [[nodiscard]] T node(std::uint64_t first, std::uint64_t end) const
    requires(Sums::is_exact)
  {
    return sums.interval(first, end);
  }
};

/// Leaves of `size` iterations of n.
template <class T, class Sums>
struct many_iterations {
  const Sums& sums;
  std::uint64_t n;
  std::uint64_t size;
  [[nodiscard]] T operator()(std::uint64_t i) const {
    return size == 1 ? sums.one(i) : sums.interval(i * size, i * size + std::min(n - i * size, size));
  }
  [[nodiscard]] T node(std::uint64_t first, std::uint64_t end) const
    requires(Sums::is_exact)
  {
    return sums.interval(first * size, (end - 1) * size + std::min(n - (end - 1) * size, size));
  }
};

/// n > 0. make_sums() as above.
template <class T, class MakeSums, class Combine>
[[gnu::always_inline]] inline T reduce_iterations(std::uint64_t n, std::uint64_t grain, const MakeSums& make_sums,
                                                  const Combine& combine, const weight_sums* hints) {
  using sums = decltype(make_sums());
  if constexpr (sizeof(T) <= most_on_stack) {
    if (detail::are_single<T, sums>(n, grain)) {
      const auto shift = static_cast<unsigned>(std::bit_width((n - 1) / most_leaves));
      const std::optional<weight_sums> of_nodes = of_every(hints, std::uint64_t{1} << shift);
      return detail::reduce_shared<T>(
          n, shift, [&] { return single_iterations<T, sums>{make_sums()}; }, combine, of_nodes ? &*of_nodes : nullptr);
    }
  }
  const std::uint64_t size = detail::leaf_size<T>(n, grain);
  const sums held = make_sums();
  const std::optional<weight_sums> of_leaves = of_every(hints, size);
  return detail::reduce_leaves<T>(
      n / size + (n % size != 0 ? 1 : 0), [&] { return many_iterations<T, sums>{held, n, size}; }, combine,
      of_leaves ? &*of_leaves : nullptr);
}

/// Parts of a range; not empty.
template <class T, class Shape, class Body, class Combine>
T reduce_parts(const Shape& shape, std::uint64_t grain, const T& identity, const Body& body, const Combine& combine,
               const weight_sums* hints) {
  using sums = range_sums<T, Shape, Body>;
  return detail::reduce_iterations<T>(
      shape.size(), grain, [&] { return sums{shape, identity, body}; }, value_combiner<T, Combine>{combine}, hints);
}

/// Single items.
template <class T, class Shape, class Value, class Combine>
[[gnu::always_inline]] inline T reduce_items(const Shape& shape, std::type_identity_t<T>&& init, const Value& value,
                                             const Combine& combine, std::size_t grain, const weight_sums* hints) {
  static_assert(
      std::invocable<const Value&, typename Shape::item_type>,
      "filch: parallel_reduce(items, init, value, combine): 'value' is called with one item, by several threads "
      "at the same time and so as a constant (no mutable lambda); for the items themselves write {}, as in "
      "parallel_reduce(items, 0, {}, combine)");
  const std::uint64_t n = shape.size();
  if (n == 0) return std::move(init);
  using held = held_body<const Value, by_value<Value, typename Shape::item_type>>;
  using sums = item_sums<T, Shape, held, Combine>;
  const value_combiner<T, Combine> both{combine};
  return both(std::move(init),
              detail::reduce_iterations<T>(n, grain, [&] { return sums{shape, held(value), both}; }, both, hints));
}

template <class T>
consteval void require_copies() {
  static_assert(
      std::copy_constructible<T>,
      "filch: parallel_reduce(range, identity, body, combine): each part begins with a copy of 'identity', and its "
      "type can only be moved; combine items instead, as in parallel_reduce(first, last, init, value, combine)");
}

/// Any splittable range: the tree is that of its halves. make(part) makes the value of an undivided one, of type V.
template <class V, class Range, class Make, class Combine>
V reduce_halves(Range range, const Make& make, const Combine& combine) {
  if (!range.is_divisible()) return make(static_cast<const Range&>(range));
  Range second(range, split{});
  auto [a, b] = filch::fork_join([&]() -> V { return detail::reduce_halves<V>(std::move(range), make, combine); },
                                 [&]() -> V { return detail::reduce_halves<V>(std::move(second), make, combine); });
  return combine(std::move(a), std::move(b));
}

template <class T, class Range, class Body, class Combine>
T reduce_any(const Range& range, const T& identity, const Body& body, const Combine& combine) {
  const value_combiner<T, Combine> both{combine};
  const auto make = [&](const Range& part) -> T {
    return static_cast<T>(detail::call_with_part(body, part, T(identity)));
  };
  if constexpr (sizeof(T) <= most_on_stack) {
    return detail::reduce_halves<T>(range, make, both);
  } else {
    using box = std::unique_ptr<T>;
    return std::move(*detail::reduce_halves<box>(
        range, [&](const Range& part) { return detail::boxed<T>([&] { return make(part); }); },
        [&](box a, box b) { return detail::boxed<T>([&] { return both(std::move(*a), std::move(*b)); }); }));
  }
}

}  // namespace detail

/// Combines body(part, identity) of all parts of a range: body adds the values of one part to what it is given.
///
/// @param range     as for parallel_for. With a blocked_range, parts have `grainsize` iterations or, without one,
///                  1/2048 of all, rounded up; 1/128 if T is larger than 64 bytes, or no trivial copy.
/// @param identity  combine(identity, x) is x. Returned for an empty range. Its type T can be copied.
/// @param body      body(const Range&, T) -> T, or, as of a loop, body(Range&, T).
/// @param combine   combine(T, T) -> T, associative but for rounding; called for neighbours, the left one first. Both
///                  are called by several threads at the same time.
/// @throws what body or combine throws, when the parts that others have begun have ended, however long these are; of several
///         exceptions the one of the leftmost part. std::bad_alloc if there is no memory for the value of a part that
///         another worker took.
/// @par Complexity no allocation (but for values over 256 bytes) and no atomic read-modify-write unless somebody asks for
///                 work. Parts that together
///                 take less than about a microsecond are not shared. How parts are cut off is the scheduler's choice
///                 (options::loop), as for other loops.
/// @par Thread safety any thread.
template <splittable_range Range, class T, class Body, class Combine>
T parallel_reduce(const Range& range, const T& identity, const Body& body, const Combine& combine) {
  detail::require_copies<T>();
  if (range.empty()) return identity;
  if constexpr (detail::shaped_range<Range>) {
    return detail::reduce_parts<T>(detail::shape_of(range), detail::grain_of(range), identity, body, combine, nullptr);
  } else {
    return detail::reduce_any<T>(range, identity, body, combine);
  }
}
/// The same with hints of how much work the iterations do; as for parallel_for.
template <detail::shaped_range Range, class T, class Body, class Combine>
T parallel_reduce(const Range& range, const T& identity, const Body& body, const Combine& combine, weights hints) {
  detail::require_copies<T>();
  const auto shape = detail::shape_of(range);
  const detail::weight_sums sums(shape, hints);
  if (range.empty()) return identity;
  return detail::reduce_parts<T>(shape, detail::grain_of(range), identity, body, combine, &sums);
}

/// Combines `init` and value(i) for every i in [first, last), or value(*i) for iterators.
///
/// @param first, last, value  as first, last and body of parallel_for; by default the items themselves, as std::reduce does.
/// @param init   what the combination starts with; returned if there are no items. Its type T can be moved.
/// @param grain  iterations that are combined one after the other, as a leaf of the tree; 0: 1/2048 of all, rounded up (or
///               1/128, as above); one of up to 32,768 integers or items of an array.
/// The rest as above.
template <class First, class Last, class T, class Value = std::identity, class Combine = std::plus<>>
  requires detail::loop_bounds<First, Last>
[[gnu::always_inline]] inline T parallel_reduce(First first, Last last, T init, const Value& value = {},
                                                const Combine& combine = {}, std::size_t grain = 0) {
  return detail::with_shape(std::move(first), std::move(last), [&](const auto& shape) -> T {
    return detail::reduce_items<T>(shape, std::move(init), value, combine, grain, nullptr);
  });
}
template <class First, class Last, class T, class... Rest>
  requires detail::other_bounds<First, Last>
T parallel_reduce(First /*first*/, Last /*last*/, T init, const Rest&... /*rest*/) {
  detail::require_loop_bounds<First, Last>();
  return init;
}
/// The same with hints of how much work the iterations do; as for parallel_for.
template <class First, class Last, class T, class Value = std::identity, class Combine = std::plus<>>
  requires detail::loop_bounds<First, Last>
T parallel_reduce(First first, Last last, T init, const Value& value, const Combine& combine, weights hints) {
  return detail::with_shape(std::move(first), std::move(last), [&](const auto& shape) -> T {
    const detail::weight_sums sums(shape, hints);
    return detail::reduce_items<T>(shape, std::move(init), value, combine, 0, &sums);
  });
}
template <class First, class Last, class T, class Value = std::identity>
  requires detail::loop_bounds<First, Last>
T parallel_reduce(First first, Last last, T init, const Value& value, weights hints) {
  return filch::parallel_reduce(std::move(first), std::move(last), std::move(init), value, std::plus<>(), hints);
}

/// The same for everything in a container, an array, or a view.
template <detail::iterable Range, class T, class Value = std::identity, class Combine = std::plus<>>
T parallel_reduce(Range&& range, T init, const Value& value = {}, const Combine& combine = {}, std::size_t grain = 0) {
  return filch::parallel_reduce(detail::range_begin(range), detail::range_end(range), std::move(init), value, combine,
                                grain);
}
template <detail::iterable Range, class T, class Value = std::identity, class Combine = std::plus<>>
T parallel_reduce(Range&& range, T init, const Value& value, const Combine& combine, weights hints) {
  return filch::parallel_reduce(detail::range_begin(range), detail::range_end(range), std::move(init), value, combine,
                                hints);
}

}  // namespace filch
