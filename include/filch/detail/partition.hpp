// Partition: puts the elements that satisfy a predicate before the others. Three ways, each of which does the same
// whoever runs it, since the result of a sort must not depend on that:
//
// - Elements that are cheap to copy: without a branch that depends on them (Lomuto's way, as N. Lomuto described it and
//   A. Alexandrescu made it branch-free). Half of all branches on random elements would be guessed wrongly. But first
//   from both ends, as long as few are on the wrong side: that is faster, and leaves runs as they are.
// - Other elements: from both ends, so that few are moved (Hoare 1961).
// - Large ranges: cut into pairs of blocks, one from each half, which are partitioned at the same time. Between the two
//   blocks of a pair elements are exchanged while they are in the cache; the few that are on the wrong side after that
//   are exchanged at the end.
//
// A predicate that throws leaves all elements in the range, in some order.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include <filch/detail/for_blocks.hpp>
#include <filch/detail/small_sort.hpp>

namespace filch::detail {

/// Passes the elements at both ends that are on their right side, and exchanges the next two. False: there are no two, and
/// the elements that do not satisfy `wanted` begin at `first`.
template <class Iterator, class Wanted>
[[gnu::always_inline]] inline bool exchange_outermost(Iterator& first, Iterator& last, const Wanted& wanted) {
  while (first != last && wanted(*first)) ++first;
  if (first == last) return false;
  do {
    --last;
    if (first == last) return false;
  } while (!wanted(*last));
  std::iter_swap(first, last);
  ++first;
  return true;
}

/// Returns where the elements begin that do not satisfy `wanted`.
template <class Iterator, class Wanted>
  requires cheap_to_copy<std::iter_value_t<Iterator>>
Iterator partition_alone(Iterator first, Iterator last, const Wanted& wanted) {
  constexpr std::iter_difference_t<Iterator> many = 32;
  for (auto passed = many; passed >= many && last - first >= many;) {
    const auto before = last - first;
    if (!detail::exchange_outermost(first, last, wanted)) return first;
    passed = before - (last - first);
  }
  Iterator out = first;  // [first, out) satisfies, [out, i) does not
  for (Iterator i = first; i != last; ++i) {
    const std::iter_value_t<Iterator> element = *i;
    const bool yes = wanted(element);
    *i = *out;
    *out = element;
    out += static_cast<std::iter_difference_t<Iterator>>(yes);
  }
  return out;
}

template <class Iterator, class Wanted>
Iterator partition_alone(Iterator first, Iterator last, const Wanted& wanted) {
  while (detail::exchange_outermost(first, last, wanted)) {
  }
  return first;
}

/// Disjoint intervals of offsets, their elements numbered through.
template <std::size_t Most>
class interval_list {
 public:
  /// A place in the list, and how far the interval goes from there.
  struct position {
    std::uint64_t at;
    std::uint64_t rest;
    std::size_t which;
  };

  void add(std::uint64_t begin, std::uint64_t end) noexcept {
    if (begin >= end) return;
    begin_[count_] = begin;
    before_[count_ + 1] = before_[count_] + (end - begin);
    ++count_;
  }
  [[nodiscard]] std::uint64_t size() const noexcept { return before_[count_]; }

  /// The place of element `number`, below size().
  [[nodiscard]] position find(std::uint64_t number) const noexcept {
    const auto* const end = before_.data() + count_ + 1;
    const auto which = static_cast<std::size_t>(std::upper_bound(before_.data(), end, number) - before_.data()) - 1;
    const std::uint64_t inside = number - before_[which];
    return {begin_[which] + inside, before_[which + 1] - number, which};
  }
  /// Moves on by n, at most to the end of the interval; then to the next one, if there is one.
  void advance(position& p, std::uint64_t n) const noexcept {
    p.at += n;
    p.rest -= n;
    if (p.rest == 0 && p.which + 1 < count_) p = find(before_[p.which + 1]);
  }

 private:
  std::array<std::uint64_t, Most> begin_;
  std::array<std::uint64_t, Most + 1> before_{};  ///< elements before each interval; only the first count_ + 1 are set
  std::size_t count_ = 0;
};

/// Partition of one large range by all workers.
template <class Iterator, class Wanted>
class shared_partition {
 public:
  shared_partition(Iterator first, Iterator last, const Wanted& wanted)
      : first_(first), size_(static_cast<std::uint64_t>(last - first)), wanted_(wanted) {
    pairs_ = std::clamp<std::uint64_t>(size_ / (2 * least_block), 1, most_pairs);
  }

  Iterator operator()() {
    detail::for_parts(pairs_, [this](std::uint64_t i, std::uint64_t /*end*/) { part(i); });
    std::uint64_t satisfy = 0;
    for (std::uint64_t i = 0; i != 2 * pairs_; ++i) satisfy += middle_[i] - begin_of(i);
    exchange_misplaced(satisfy);
    return place(satisfy);
  }

 private:
  static constexpr std::uint64_t most_pairs = 128;
  static constexpr std::uint64_t least_block = 4096;

  [[nodiscard]] Iterator place(std::uint64_t offset) const {
    return first_ + static_cast<std::iter_difference_t<Iterator>>(offset);
  }
  /// Blocks 0 .. pairs_ - 1 are the first half, the others the second; the ends of the halves may be a little longer.
  [[nodiscard]] std::uint64_t begin_of(std::uint64_t block) const noexcept {
    const std::uint64_t half = size_ / 2;
    if (block == 2 * pairs_) return size_;
    return block < pairs_ ? block * (half / pairs_) : half + (block - pairs_) * ((size_ - half) / pairs_);
  }
  [[nodiscard]] std::uint64_t end_of(std::uint64_t block) const noexcept { return begin_of(block + 1); }
  [[nodiscard]] std::uint64_t partition_block(std::uint64_t block) const {
    const Iterator middle = detail::partition_alone(place(begin_of(block)), place(end_of(block)), wanted_);
    return static_cast<std::uint64_t>(middle - first_);
  }

  void part(std::uint64_t left) {
    const std::uint64_t right = left + pairs_;
    const std::uint64_t left_middle = partition_block(left);
    const std::uint64_t right_middle = partition_block(right);
    const std::uint64_t n = std::min(end_of(left) - left_middle, right_middle - begin_of(right));
    std::swap_ranges(place(left_middle), place(left_middle + n), place(right_middle - n));
    middle_[left] = left_middle + n;
    middle_[right] = right_middle - n;
  }

  void exchange_misplaced(std::uint64_t satisfy) const {
    interval_list<2 * most_pairs> low;   // do not satisfy, but lie where those will be that do
    interval_list<2 * most_pairs> high;  // the other way round
    for (std::uint64_t i = 0; i != 2 * pairs_; ++i) {
      low.add(middle_[i], std::min(end_of(i), satisfy));
      high.add(std::max(begin_of(i), satisfy), middle_[i]);
    }
    const std::uint64_t n = low.size();
    detail::for_blocks(n, [&](std::uint64_t from, std::uint64_t to) { exchange(low, high, from, to - from); });
  }
  template <class List>
  void exchange(const List& low, const List& high, std::uint64_t from, std::uint64_t count) const {
    auto a = low.find(from);
    auto b = high.find(from);
    while (count != 0) {
      const std::uint64_t n = std::min({a.rest, b.rest, count});
      std::swap_ranges(place(a.at), place(a.at + n), place(b.at));
      low.advance(a, n);
      high.advance(b, n);
      count -= n;
    }
  }

  Iterator first_;
  std::uint64_t size_;
  const Wanted& wanted_;
  std::uint64_t pairs_;
  /// Where in each block the elements begin that do not satisfy.
  std::array<std::uint64_t, 2 * most_pairs> middle_;
};

}  // namespace filch::detail
