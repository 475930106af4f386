// The fixed tree in which reductions combine: its leaves depend on the number of iterations and on the grain alone, and
// so does its shape, so that the result has the same bits whoever computes which part of it (DESIGN section 2, rule 8).
//
// A tree of m leaves has the largest power of two below m on its left. Subtrees of more leaves than make a chunk are
// forked; the others are computed by their caller, sixteen leaves in a row at the bottom.
#pragma once

#include <bit>
#include <cstdint>
#include <tuple>
#include <utility>

#include <filch/detail/loop_site.hpp>
#include <filch/detail/worker_core.hpp>
#include <filch/fork_join.hpp>

namespace filch::detail {

/// Leaves of a reduction without a grain, at most.
inline constexpr std::uint64_t most_leaves = 2048;

/// `leaf(i)` makes the value of leaf i; `combine(a, b)` that of two neighbours.
template <class T, class Leaf, class Combine>
class reduction_tree {
 public:
  reduction_tree(const Leaf& leaf, const Combine& combine) noexcept : leaf_(leaf), combine_(combine) {}

  /// The value of leaves 0 .. m-1. m > 0.
  [[nodiscard]] T value(std::uint64_t m) const { return forked(0, m); }

 private:
  static constexpr std::uint64_t row = 16;

  [[nodiscard]] static std::uint64_t left_of(std::uint64_t m) noexcept { return std::bit_floor(m - 1); }

  T forked(std::uint64_t first, std::uint64_t m) const {
    worker_core& w = *self;
    loop_site& site = w.sites->of(&key_of<reduction_tree>);
    if (m <= site.chunk) return alone(w, site, first, m);
    const std::uint64_t left = left_of(m);
    auto [a, b] =
        fork_join_pair<true>([&] { return forked(first, left); }, [&] { return forked(first + left, m - left); });
    return combine_(std::move(a), std::move(b));
  }

  T alone(worker_core& w, loop_site& site, std::uint64_t first, std::uint64_t m) const {
    const inside_site here(w, site);
    if (--site.until_timed == 0) [[unlikely]]
      return timed(site, first, m);
    return in_order(first, m);
  }

  [[gnu::noinline]] T timed(loop_site& site, std::uint64_t first, std::uint64_t m) const {
    const std::uint64_t chunk = site.chunk;
    site.until_timed = loop_site::rarely;  // also for leaves that throw, or that contain this very reduction
    const chunk_timer timer;
    T result = in_order(first, m);
    // Shorter than a chunk, it only shows that a chunk is too long.
    if (!site.nests && site.chunk == chunk && (2 * m > chunk || timer.ns() > loop_site::chunk_ns))
      site.took(timer.ns());
    return result;
  }

  T in_order(std::uint64_t first, std::uint64_t m) const {
    if (m > row) {
      const std::uint64_t left = left_of(m);
      T a = in_order(first, left);
      return combine_(std::move(a), in_order(first + left, m - left));
    }
    return below<row>(first, m);
  }
  /// Of m leaves, at most Most, which is a power of two.
  template <std::uint64_t Most>
  [[gnu::always_inline]] T below(std::uint64_t first, std::uint64_t m) const {
    if constexpr (Most == 1) {
      return leaf_(first);
    } else {
      if (m == Most) return all<Most>(first);
      if (m <= Most / 2) return below<Most / 2>(first, m);
      T a = all<Most / 2>(first);
      return combine_(std::move(a), below<Most / 2>(first + Most / 2, m - Most / 2));
    }
  }
  /// Of a whole power of two. Without a call or a loop in between, so that what leaves have in common is done once.
  template <std::uint64_t Count>
  [[gnu::always_inline]] T all(std::uint64_t first) const {
    if constexpr (Count == 1) {
      return leaf_(first);
    } else {
      T a = all<Count / 2>(first);
      return combine_(std::move(a), all<Count / 2>(first + Count / 2));
    }
  }

  Leaf leaf_;
  const Combine& combine_;
};

}  // namespace filch::detail
