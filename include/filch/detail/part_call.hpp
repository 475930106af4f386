// How a body is called with a part of a range.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>

namespace filch::detail {

/// What a body is called with: a constant part; or, if it does not take one, a variable of its own, as the bodies of oneTBB's loops
/// may.
template <class Body, class Range, class... Rest>
using part_argument = std::conditional_t<std::is_invocable_v<Body&, const Range&, Rest...>, const Range&, Range&>;

template <class Body, class Range, class... Rest>
inline constexpr bool takes_part = std::is_invocable_v<Body&, part_argument<Body, Range, Rest...>, Rest...>;

template <class Body, class Range, class... Rest>
[[gnu::always_inline]] inline decltype(auto) call_with_part(Body& body, const Range& part, Rest&&... rest) {
  if constexpr (std::is_invocable_v<Body&, const Range&, Rest...>) {
    return std::invoke(body, part, std::forward<Rest>(rest)...);
  } else {
    Range own(part);
    return std::invoke(body, own, std::forward<Rest>(rest)...);
  }
}

}  // namespace filch::detail
