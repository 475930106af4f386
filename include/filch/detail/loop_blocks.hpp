// A loop's shape and its body together: what it means to run iterations [low, high).
#pragma once

#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include <filch/detail/part_call.hpp>
#include <filch/detail/shapes.hpp>

namespace filch::detail {

/// A body that is small and has no state to keep: better copied into each chunk's registers than reached through a
/// pointer that every store in the loop might change.
template <class Body, class... Args>
inline constexpr bool by_value = [] {
  if constexpr (std::is_object_v<Body>) {
    // A type whose copies are trivial may still forbid them.
    return std::is_trivially_copyable_v<Body> && std::is_trivially_copy_constructible_v<Body> && sizeof(Body) <= 64 &&
           std::is_invocable_v<const Body&, Args...>;
  }
  return false;
}();

template <class Body, bool ByValue>
struct held_body {
  explicit held_body(Body& of) noexcept : body(of) {}
  Body& body;
  [[nodiscard]] Body& get() const noexcept { return body; }
};
template <class Body>
struct held_body<Body, true> {
  explicit held_body(const Body& of) noexcept : body(of) {}
  const Body body;
  [[nodiscard]] const Body& get() const noexcept { return body; }
};

/// What a worker gathers while it runs a part of a loop that has no result.
struct no_values {};

/// A loop over single items: its shape and its body. To be copied by who runs a part of it.
template <class Shape, class Body>
struct item_block {
  Shape shape;
  using held_type = held_body<Body, by_value<Body, typename Shape::item_type>>;
  held_type held;

  using values = no_values;
  /// May a chunk end anywhere? Not where the next place would be walked to.
  static constexpr bool ends_anywhere = requires { Shape::has_cheap_places; };

  [[nodiscard]] std::uint64_t size() const noexcept { return shape.size(); }

  /// Runs [low, high). `at`: the number in progress, for whoever has to know which one threw.
  void run(std::uint64_t low, std::uint64_t high, std::uint64_t& at, no_values& /*none*/) const {
    shape.visit(low, high, at, [this](auto place) { std::invoke(held.get(), shape.item(place)); });
  }
};

/// A loop over parts of a range.
template <class Shape, class Body>
struct range_block {
  using range = typename Shape::range;
  Shape shape;
  using held_type = held_body<Body, by_value<Body, part_argument<Body, range>>>;
  held_type held;

  using values = no_values;

  [[nodiscard]] std::uint64_t size() const noexcept { return shape.size(); }

  void run(std::uint64_t low, std::uint64_t high, std::uint64_t& at, no_values& /*none*/) const {
    at = low;
    shape.visit(low, high, at, [&](const range& part) { detail::call_with_part(held.get(), part); });
  }
};

template <class Shape, class Body>
auto block_of(const Shape& shape, Body& body) {
  if constexpr (requires { typename Shape::item_type; }) {
    static_assert(
        std::is_invocable_v<Body&, typename Shape::item_type>,
        "filch: the body of a loop is called with one item: an integer from first to last - 1, or what an iterator "
        "leads to; it cannot be called so");
    using block = item_block<Shape, Body>;
    return block{shape, typename block::held_type(body)};
  } else {
    static_assert(
        takes_part<Body, typename Shape::range>,
        "filch: the body of a loop over a range is called with parts of it, as 'const auto& part', and goes through "
        "each itself; it cannot be called so");
    using block = range_block<Shape, Body>;
    return block{shape, typename block::held_type(body)};
  }
}

}  // namespace filch::detail
