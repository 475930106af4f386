// Loops that may change the elements of a std::vector<bool>. Those that share a word must not be changed by two workers at
// the same time, so the numbers of the loop begin where the first word does, and it is cut at multiples of a word.
//
// That needs iterators that tell where in its word a bit is: the container's own, and those in reverse. Others that lead to
// such elements (of views, mostly) do not compile where the elements could be changed.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <filch/blocked_range.hpp>

namespace filch::detail {

using bit_iterator = std::vector<bool>::iterator;

/// Iterators that a loop over bits is cut by.
template <class Iterator>
inline constexpr bool is_bit_place = std::same_as<Iterator, bit_iterator>;
template <class Iterator>
inline constexpr bool is_bit_place<std::reverse_iterator<Iterator>> = is_bit_place<Iterator>;
template <class Iterator>
concept bit_place = is_bit_place<Iterator>;

/// Can one of a vector's bits be changed by way of a T?
template <class T>
inline constexpr bool refers_to_bit = std::same_as<std::remove_cvref_t<T>, std::vector<bool>::reference>;
template <class... Ts>
inline constexpr bool refers_to_bit<std::tuple<Ts...>> = (refers_to_bit<Ts> || ...);
template <class A, class B>
inline constexpr bool refers_to_bit<std::pair<A, B>> = refers_to_bit<std::tuple<A, B>>;

/// Does this lead to bits that can be changed? Of iterators, and of ranges of them.
template <class>
inline constexpr bool leads_to_bits = false;
template <std::indirectly_readable Iterator>
inline constexpr bool leads_to_bits<Iterator> = refers_to_bit<std::iter_reference_t<Iterator>>;
template <class... Ts>
inline constexpr bool leads_to_bits<std::tuple<Ts...>> = std::disjunction_v<std::bool_constant<leads_to_bits<Ts>>...>;
template <class Value>
inline constexpr bool leads_to_bits<blocked_range<Value>> = leads_to_bits<Value>;
template <class Row, class Column>
inline constexpr bool leads_to_bits<blocked_range2d<Row, Column>> = leads_to_bits<std::tuple<Row, Column>>;
template <class Page, class Row, class Column>
inline constexpr bool leads_to_bits<blocked_range3d<Page, Row, Column>> = leads_to_bits<std::tuple<Page, Row, Column>>;

inline constexpr std::uint64_t bits_of_word = std::numeric_limits<unsigned long>::digits;

/// The standard library's iterator tells where in its word it is.
template <class Iterator>
concept tells_word = requires(const Iterator& i) { i._M_offset; };
/// One that checks its use (_GLIBCXX_DEBUG), around such an iterator.
template <class Iterator>
concept checked_word = !tells_word<Iterator> && requires(const Iterator& i) { i.base()._M_offset; };

/// Elsewhere loops over bits are not cut.
inline constexpr bool knows_words = tells_word<bit_iterator> || checked_word<bit_iterator>;

/// Of the same word, in the direction in which the iterator goes.
template <class Iterator>
std::uint64_t bits_before([[maybe_unused]] const Iterator& i) noexcept {
  if constexpr (tells_word<Iterator>) {
    return i._M_offset;
  } else if constexpr (checked_word<Iterator>) {
    return i.base()._M_offset;
  } else {
    return 0;
  }
}
template <class Iterator>
std::uint64_t bits_before(const std::reverse_iterator<Iterator>& i) noexcept {
  return (bits_of_word - detail::bits_before(i.base())) % bits_of_word;
}

/// Single bits.
template <bit_place Iterator>
class bit_shape {
 public:
  bit_shape(Iterator first, Iterator last)
      : first_(first),
        before_(detail::bits_before(first)),
        n_(last > first ? static_cast<std::uint64_t>(last - first) : 0) {}

  [[nodiscard]] std::uint64_t size() const noexcept { return n_ == 0 ? 0 : before_ + n_; }
  /// The least multiple of whole words that is a grain of at least so many.
  [[nodiscard]] std::size_t grain_from(std::size_t least) const noexcept {
    const std::uint64_t indivisible = knows_words ? bits_of_word : std::max<std::uint64_t>(1, size());
    const std::uint64_t grain = std::clamp<std::uint64_t>(least, 1, std::max<std::uint64_t>(1, size()));
    return (grain + indivisible - 1) / indivisible * indivisible;
  }

  using place = Iterator;
  using item_type = typename std::iterator_traits<Iterator>::reference;

  [[nodiscard]] place place_of(std::uint64_t i) const {
    return first_ + (static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(before_));
  }
  [[nodiscard]] item_type item(place p) const { return *p; }
  /// The first of [low, high) that is the loop's.
  [[nodiscard]] std::uint64_t first_from(std::uint64_t low) const noexcept {
    return std::max(low, before_);  // high is more: a part has at least a word
  }
  template <class Visit>
  void visit(std::uint64_t low, std::uint64_t high, std::uint64_t& at, const Visit& visit) const {
    at = first_from(low);
    for (place p = place_of(at); at != high; ++at, ++p) visit(p);
  }

 private:
  Iterator first_;
  std::uint64_t before_;  ///< of the first word
  std::uint64_t n_;
};

/// An interval of bits.
template <bit_place Iterator>
class bit_range_shape {
 public:
  using range = blocked_range<Iterator>;
  explicit bit_range_shape(const range& r) : bits_(r.begin(), r.end()), grainsize_(r.grainsize()) {}

  [[nodiscard]] std::uint64_t size() const noexcept { return bits_.size(); }
  [[nodiscard]] std::size_t grain_from(std::size_t least) const noexcept { return bits_.grain_from(least); }
  template <class Visit>
  void visit(std::uint64_t low, std::uint64_t high, std::uint64_t& /*at*/, const Visit& visit) const {
    visit(range(bits_.place_of(bits_.first_from(low)), bits_.place_of(high), grainsize_));
  }

 private:
  bit_shape<Iterator> bits_;
  std::size_t grainsize_;
};

template <bit_place Iterator>
auto bit_shape_of(const blocked_range<Iterator>& range) {
  return bit_range_shape<Iterator>(range);
}
/// A range that is cut where words are.
template <class Range>
concept bit_range = requires(const Range& range) { detail::bit_shape_of(range); };

}  // namespace filch::detail
