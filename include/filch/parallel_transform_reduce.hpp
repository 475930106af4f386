// parallel_transform_reduce: std::transform_reduce by all workers. The result has the same bits with any number of
// workers and in every run (see parallel_reduce).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <ranges>
#include <utility>

#include <filch/detail/range_ends.hpp>
#include <filch/parallel_reduce.hpp>

namespace filch {

/// Combines `init` and transform(x) for all x in [first, last), in their order.
///
/// @param init       what the combination starts with; returned for an empty range.
/// @param combine    combine(T, T) -> T, associative but for rounding. It need not be commutative, unlike that of
///                   std::transform_reduce.
/// @param transform  its result is converted to T. Both are called by several threads at the same time.
/// @param grain      elements that are combined one after the other; 0: as for parallel_reduce.
/// @throws what transform or combine throws; of several exceptions that of the leftmost element.
/// @par Complexity n calls of each; no allocation.
/// @par Thread safety any thread.
template <std::random_access_iterator Iterator, class T, class Combine, class Transform>
  requires(!std::random_access_iterator<T>)
T parallel_transform_reduce(Iterator first, Iterator last, T init, const Combine& combine, const Transform& transform,
                            std::size_t grain = 0) {
  return filch::parallel_reduce(first, last, std::move(init), transform, combine, grain);
}

/// The same for transform(x, y) of the pairs of [first1, last1) and the elements from first2 on. By default the inner
/// product.
template <std::random_access_iterator First, std::random_access_iterator Second, class T, class Combine = std::plus<>,
          class Transform = std::multiplies<>>
T parallel_transform_reduce(First first1, First last1, Second first2, T init, const Combine& combine = {},
                            const Transform& transform = {}, std::size_t grain = 0) {
  // An iterator's own difference may be wider, and no integer: that of std::views::iota(0L, n).
  const auto value = [&](std::ptrdiff_t i) -> decltype(auto) {
    return std::invoke(transform, first1[static_cast<std::iter_difference_t<First>>(i)],
                       first2[static_cast<std::iter_difference_t<Second>>(i)]);
  };
  const auto count = static_cast<std::ptrdiff_t>(last1 - first1);
  return filch::parallel_reduce(std::ptrdiff_t{0}, count, std::move(init), value, combine, grain);
}

/// Both for all elements of a container, an array, or a view; the second range is at least as long as the first.
template <detail::iterable Range, class T, class Combine, class Transform>
  requires std::invocable<const Transform&, std::ranges::range_reference_t<Range>>
T parallel_transform_reduce(Range&& range, T init, const Combine& combine, const Transform& transform,
                            std::size_t grain = 0) {
  return filch::parallel_reduce(range, std::move(init), transform, combine, grain);
}
template <detail::iterable First, detail::iterable Second, class T, class Combine = std::plus<>,
          class Transform = std::multiplies<>>
  requires std::invocable<const Combine&, T, T>  // else the second is what another reduction begins with
T parallel_transform_reduce(First&& first, Second&& second, T init, const Combine& combine = {},
                            const Transform& transform = {}, std::size_t grain = 0) {
  const auto begin = detail::range_begin(first);
  return filch::parallel_transform_reduce(begin, std::ranges::next(begin, detail::range_end(first)),
                                          detail::range_begin(second), std::move(init), combine, transform, grain);
}

}  // namespace filch
