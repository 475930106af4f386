// Calls a branch and gives its result as a value: `unit` where the branch returns void. Shared by the peers.
#pragma once

#include <type_traits>
#include <utility>

#include <filch/filch.hpp>

namespace filch::bench {

template <class F>
[[gnu::always_inline]] inline auto value_of(F&& branch) {
  if constexpr (std::is_void_v<std::invoke_result_t<F>>) {
    std::forward<F>(branch)();
    return unit{};
  } else {
    return std::forward<F>(branch)();
  }
}

template <class F>
using value_of_t = decltype(value_of(std::declval<F>()));

}  // namespace filch::bench
