// Hints of how much work the iterations of a loop do, as sums over the numbers that loops divide.
#pragma once

#include <algorithm>
#include <cstdint>

#include <filch/config.hpp>
#include <filch/loop.hpp>

namespace filch::detail {

/// Throws std::invalid_argument: the list has no entry for the end of so many items; or, in builds that check contracts,
/// it does not grow.
FILCH_API [[noreturn, gnu::cold]] void reject_weights(std::uint64_t entries, std::uint64_t items, const char* of);
FILCH_API [[noreturn, gnu::cold]] void reject_weight(std::uint64_t at, double before, double after);

/// The list has an entry for each item of a shape's outermost dimension, and one for the end. It has to exist as long as
/// this.
class weight_sums {
 public:
  template <class Shape>
  weight_sums(const Shape& shape, weights hints)
      : sums_(hints.sums.data()), items_(shape.outermost()), of_item_(shape.inside()), size_(shape.size()) {
    if (hints.sums.size() <= items_) detail::reject_weights(hints.sums.size(), items_, Shape::items);
    if constexpr (checks) {
      for (std::uint64_t i = 0; i != items_; ++i) {
        if (!(sums_[i] <= sums_[i + 1])) reject_weight(i, sums_[i], sums_[i + 1]);
      }
    }
  }

  /// The same for numbers of which each stands for so many of these; the last one for what is left.
  [[nodiscard]] weight_sums of_every(std::uint64_t numbers) const noexcept {
    weight_sums made = *this;
    made.stride_ *= numbers;
    return made;
  }

  /// The work of all numbers before i, which is at most their count.
  [[nodiscard]] double before(std::uint64_t i) const noexcept {
    const std::uint64_t number = std::min(i * stride_, size_);
    const std::uint64_t inside = number % of_item_;
    const double* const sum = sums_ + number / of_item_;
    double all = sum[0] - sums_[0];
    if (inside != 0) all += static_cast<double>(inside) / static_cast<double>(of_item_) * (sum[1] - sum[0]);
    return all;
  }

 private:
  const double* sums_;
  std::uint64_t items_;
  std::uint64_t of_item_;  ///< numbers of an item, one after the other
  std::uint64_t size_;     ///< numbers: those of all items
  std::uint64_t stride_ = 1;
};

}  // namespace filch::detail
