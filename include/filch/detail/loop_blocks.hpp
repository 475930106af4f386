// A loop's shape and its body together: what it means to run iterations [low, high).
#pragma once

#include <cstdint>
#include <type_traits>

#include <filch/detail/shapes.hpp>

namespace filch::detail {

/// A body that is small and has no state to keep: better copied into each chunk's registers than reached through a
/// pointer that every store in the loop might change.
template <class Body, class... Args>
inline constexpr bool by_value =
    std::is_trivially_copyable_v<Body> && sizeof(Body) <= 64 && std::is_invocable_v<const Body&, Args...>;

template <class Body, bool ByValue>
struct held_body {
  Body& body;
  [[nodiscard]] Body& get() const noexcept { return body; }
};
template <class Body>
struct held_body<Body, true> {
  const Body body;
  [[nodiscard]] const Body& get() const noexcept { return body; }
};

/// A loop: its shape and its body.
template <class Shape, class Body>
struct loop_block {
  Shape shape;
  Body& body;

  [[nodiscard]] std::uint64_t size() const noexcept { return shape.size(); }

  /// Runs [low, high). `at`: the number in progress, for whoever has to know which one threw.
  void run(std::uint64_t low, std::uint64_t high, std::uint64_t& at) const {
    if constexpr (requires { shape.item(low); }) {
      const held_body<Body, by_value<Body, decltype(shape.item(low))>> held{body};
      const Shape own = shape;
      std::uint64_t i = low;
      try {
        for (; i != high; ++i) held.get()(own.item(i));
      } catch (...) {
        at = i;
        throw;
      }
    } else {
      using range = typename Shape::range;
      const held_body<Body, by_value<Body, const range&>> held{body};
      at = low;
      shape.visit(low, high, at, [&](const range& part) { held.get()(part); });
    }
  }
};

}  // namespace filch::detail
