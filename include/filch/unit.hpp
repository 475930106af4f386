// What stands for `void` where a value is needed.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>

namespace filch {

/// The result of a callable that returns void.
struct unit {
  friend constexpr bool operator==(unit, unit) noexcept = default;
};

namespace detail {

template <class F>
using raw_result = std::invoke_result_t<F>;

/// Result type of calling F, with void replaced by unit.
template <class F>
using result_of = std::conditional_t<std::is_void_v<raw_result<F>>, unit, raw_result<F>>;

/// Calls f, turning void into unit.
template <class F>
constexpr result_of<F> call(F&& f) {
  if constexpr (std::is_void_v<raw_result<F>>) {
    std::invoke(std::forward<F>(f));
    return {};
  } else {
    return std::invoke(std::forward<F>(f));
  }
}

}  // namespace detail
}  // namespace filch
