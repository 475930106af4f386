// Stable merging of two neighbouring sorted runs into another place.
//
// Whatever happens, all elements are in the new place afterwards: where a comparison throws, the rest follows in some
// order. Moving elements must not throw.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <iterator>
#include <utility>

#include <filch/detail/small_sort.hpp>
#include <filch/fork_join.hpp>

namespace filch::detail {

/// Two runs, and where they go.
template <class Source, class Target>
struct merge_job {
  Source left;
  Source left_end;
  Source right;
  Source right_end;
  Target out;

  [[nodiscard]] std::uint64_t size() const noexcept {
    return static_cast<std::uint64_t>((left_end - left) + (right_end - right));
  }
  /// Moves everything that is left, in the order in which it is.
  void move_rest() {
    out = std::move(left, left_end, out);
    out = std::move(right, right_end, out);
  }
};

template <class Source, class Target, class Compare>
class merger {
 public:
  using job = merge_job<Source, Target>;

  explicit merger(const Compare& less) noexcept : less_(less) {}

  /// By all workers: large merges are cut in two where half of the result ends. The cut is looked for within the part,
  /// so nobody looks at what another one moves.
  /// @return what a comparison threw; of several exceptions the one of the lowest part.
  std::exception_ptr shared(job whole) const {
    if (whole.size() < shared_from) return alone(whole);
    const auto half = static_cast<offset>(whole.size() / 2);
    offset from_left = 0;
    try {
      from_left = cut(whole, half);
    } catch (...) {
      whole.move_rest();
      return std::current_exception();
    }
    const Source left = whole.left + from_left;
    const Source right = whole.right + (half - from_left);
    const auto [low, high] = filch::fork_join(
        [&, this] { return shared({whole.left, left, whole.right, right, whole.out}); },
        [&, this] { return shared({left, whole.left_end, right, whole.right_end, whole.out + half}); });
    return low ? low : high;
  }

  std::exception_ptr alone(job whole) const {
    const rest_mover in_any_case{whole};
    try {
      if (whole.left == whole.left_end || whole.right == whole.right_end) return {};
      if (!less_(*whole.right, *(whole.left_end - 1))) return {};
      if (less_(*(whole.right_end - 1), *whole.left)) {
        whole.out = std::move(whole.right, whole.right_end, whole.out);
        whole.right = whole.right_end;
        return {};
      }
      if constexpr (cheap_to_copy<std::iter_value_t<Source>>) {
        copy_from_both_ends(whole);
      } else {
        move_in_order(whole);
      }
      return {};
    } catch (...) {
      return std::current_exception();
    }
  }

 private:
  using offset = std::iter_difference_t<Source>;

  /// Merges of at least as many elements are cut.
  static constexpr std::uint64_t shared_from = std::uint64_t{1} << 15;
  /// Elements that are looked at together, and steps between two looks.
  static constexpr offset row = 8;
  static constexpr offset most_steps = 16;

  struct rest_mover {
    job& rest;
    ~rest_mover() { rest.move_rest(); }
  };

  /// How many of the first `count` elements of the result come from the left run.
  offset cut(const job& whole, offset count) const {
    offset low = std::max<offset>(0, count - (whole.right_end - whole.right));
    offset high = std::min<offset>(count, whole.left_end - whole.left);
    while (low != high) {
      const offset middle = low + (high - low) / 2;
      if (less_(whole.right[count - middle - 1], whole.left[middle])) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  void move_in_order(job& rest) const {
    while (rest.left != rest.left_end && rest.right != rest.right_end) {
      if (less_(*rest.right, *rest.left)) {
        *rest.out++ = std::move(*rest.right++);
      } else {
        *rest.out++ = std::move(*rest.left++);
      }
    }
  }

  /// Copies a row from one end of one run where so many come next: of a range that was nearly sorted, or has few different
  /// elements, that is most of it. False: there is none.
  bool copy_row(job& part, Target& out_end) const {
    const bool left_has_row = part.left_end - part.left >= row;
    const bool right_has_row = part.right_end - part.right >= row;
    if (left_has_row && !less_(*part.right, part.left[row - 1])) {
      part.out = std::copy_n(part.left, row, part.out);
      part.left += row;
    } else if (right_has_row && !less_(*(part.right_end - row), *(part.left_end - 1))) {
      part.right_end -= row;
      out_end -= row;
      std::copy_n(part.right_end, row, out_end);
    } else if (right_has_row && less_(part.right[row - 1], *part.left)) {
      part.out = std::copy_n(part.right, row, part.out);
      part.right += row;
    } else if (left_has_row && less_(*(part.right_end - 1), *(part.left_end - row))) {
      part.left_end -= row;
      out_end -= row;
      std::copy_n(part.left_end, row, out_end);
    } else {
      return false;
    }
    return true;
  }

  /// Without a branch that is hard to guess, and two chains of comparisons that do not wait for each other. At most as
  /// many steps at once as the shorter run has elements: so neither chain can leave a run.
  void copy_from_both_ends(job& rest) const {
    job part = rest;
    auto out_end = part.out + static_cast<std::iter_difference_t<Target>>(part.size());
    while (part.left < part.left_end && part.right < part.right_end) {
      if (copy_row(part, out_end)) continue;
      const offset left_size = part.left_end - part.left;
      const offset right_size = part.right_end - part.right;
      const offset steps = std::min({left_size, right_size, (left_size + right_size) / 2, most_steps});
      for (offset i = 0; i != steps; ++i) {
        const bool right_first = less_(*part.right, *part.left);
        *part.out++ = right_first ? *part.right : *part.left;
        part.right += static_cast<offset>(right_first);
        part.left += static_cast<offset>(!right_first);
        const bool left_last = less_(*(part.right_end - 1), *(part.left_end - 1));
        *--out_end = left_last ? *(part.left_end - 1) : *(part.right_end - 1);
        part.left_end -= static_cast<offset>(left_last);
        part.right_end -= static_cast<offset>(!left_last);
      }
    }
    // The chains pass each other only where the comparison is no order (floating-point numbers with NaN): then nothing
    // has been lost, since elements were copied.
    if (part.left <= part.left_end && part.right <= part.right_end) {
      rest = part;
    } else {
      move_in_order(rest);
    }
  }

  const Compare& less_;
};

}  // namespace filch::detail
