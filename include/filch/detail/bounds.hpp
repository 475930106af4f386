// Bounds of different types, as one type.
#pragma once

#include <concepts>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace filch::detail {

/// The type that both bounds of a loop are turned into.
template <class First, class Last>
struct bound_of : std::common_type<First, Last> {};
/// A signed and an unsigned bound: a signed type that has room for both where there is one.
template <std::integral First, std::integral Last>
  requires(std::is_signed_v<First> != std::is_signed_v<Last> && sizeof(std::common_type_t<First, Last>) < 8)
struct bound_of<First, Last> {
  using type = std::int64_t;
};

/// @throws std::invalid_argument when the bound has no place in the loop's type.
template <class Value, class Bound>
constexpr Value converted_bound(Bound bound) {
  if constexpr (std::integral<Bound> && std::is_signed_v<Bound> && std::is_unsigned_v<Value>) {
    if (bound < 0) {
      throw std::invalid_argument("filch: bound '" + std::to_string(bound) +
                                  "' of a loop is negative and the other one unsigned; use bounds of one type");
    }
  }
  return static_cast<Value>(bound);
}

/// Two bounds as the ends of a range: of one type, whatever that is, or integers.
template <class First, class Last>
struct range_bound {};
template <class Value>
struct range_bound<Value, Value> {
  using type = Value;
};
template <std::integral First, std::integral Last>
  requires(!std::same_as<First, Last>)
struct range_bound<First, Last> : bound_of<First, Last> {};
template <class First, class Last>
using range_bound_t = typename range_bound<First, Last>::type;

/// The range of these bounds has that type; and they do not.
template <class Value, class First, class Last>
concept bounds_for = std::same_as<Value, range_bound_t<First, Last>>;
template <class Value, class First, class Last>
concept mixed_bounds = !std::same_as<First, Last> && bounds_for<Value, First, Last>;

}  // namespace filch::detail
