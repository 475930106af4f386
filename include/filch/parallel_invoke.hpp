// parallel_invoke: runs several callables, perhaps at the same time, for what they do and not for what they return.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>

#include <filch/fork_join.hpp>

namespace filch {
namespace detail {

/// Calls f and forgets its result, which need not be movable.
template <class F>
auto without_result(F& f) noexcept {
  return [&f] { static_cast<void>(std::invoke(std::forward<F>(f))); };
}

}  // namespace detail

/// Runs all callables, of which there may be none, perhaps at the same time, and returns when all have ended. Their results are thrown
/// away; fork_join returns them.
///
/// @throws what a callable throws; of several exceptions that of the leftmost. Those to the right of one that throws
///         may not be run at all.
/// @par Complexity as fork_join: no allocation, no atomic read-modify-write unless somebody asks for work.
/// @par Thread safety any thread.
template <class F, class G, class... More>
  requires(std::is_invocable_v<F> && std::is_invocable_v<G> && (std::is_invocable_v<More> && ...))
void parallel_invoke(F&& f, G&& g, More&&... more) {
  filch::fork_join(detail::without_result<F>(f), detail::without_result<G>(g), detail::without_result<More>(more)...);
}
template <class F>
  requires std::is_invocable_v<F>
void parallel_invoke(F&& f) {
  std::invoke(std::forward<F>(f));
}
inline void parallel_invoke() noexcept {}

}  // namespace filch
