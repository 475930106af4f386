// Loops that may change the elements of a std::vector<bool>. Those that share a word must not be changed by two workers at
// the same time, so the numbers of the loop begin where the first word does, and it is cut at multiples of a word.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <vector>

namespace filch::detail {

using bit_iterator = std::vector<bool>::iterator;

template <class Iterator>
class bit_shape {
 public:
  bit_shape(Iterator first, Iterator last)
      : first_(first), before_(bits_before(first)), n_(last > first ? static_cast<std::uint64_t>(last - first) : 0) {}

  [[nodiscard]] std::uint64_t size() const noexcept { return n_ == 0 ? 0 : before_ + n_; }
  /// The loop's grain has to be a multiple of this.
  [[nodiscard]] std::uint64_t indivisible() const noexcept {
    return knows_words ? word : std::max<std::uint64_t>(1, size());
  }

  using place = Iterator;
  using item_type = typename std::iterator_traits<Iterator>::reference;

  [[nodiscard]] place place_of(std::uint64_t i) const {
    return first_ + (static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(before_));
  }
  [[nodiscard]] item_type item(place p) const { return *p; }
  template <class Visit>
  void visit(std::uint64_t low, std::uint64_t high, std::uint64_t& at, const Visit& visit) const {
    at = std::max(low, before_);  // high is more: a part has at least a word
    for (place p = place_of(at); at != high; ++at, ++p) visit(p);
  }

 private:
  static constexpr std::uint64_t word = std::numeric_limits<unsigned long>::digits;
  /// Does the standard library's iterator tell where in its word it is? Elsewhere the loop is not cut.
  static constexpr bool knows_words = requires(const Iterator& i) { i._M_offset; };

  [[nodiscard]] static std::uint64_t bits_before([[maybe_unused]] const Iterator& first) noexcept {
    if constexpr (knows_words) {
      return first._M_offset;
    } else {
      return 0;
    }
  }

  Iterator first_;
  std::uint64_t before_;  ///< of the first word
  std::uint64_t n_;
};

}  // namespace filch::detail
