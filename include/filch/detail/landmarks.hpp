// Loops over what can only be gone through one after the other: lists, maps, filtered views.
//
// One walk counts the items and remembers where every k-th of them is; then they are numbers like others, and a part
// that begins in between goes on from the landmark before. k is 1 for short lists, so that each item may be a part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include <filch/detail/shapes.hpp>

namespace filch::detail {

template <std::forward_iterator Iterator>
class landmarks {
 public:
  /// @throws std::bad_alloc; what the iterators throw. O(n), and memory for at most 8,192 iterators.
  template <std::sentinel_for<Iterator> Last>
  landmarks(Iterator first, Last last) {
    while (first != last) {
      if (marks_.size() == most) {
        for (std::size_t i = 1; i != most / 2; ++i) marks_[i] = std::move(marks_[2 * i]);
        marks_.resize(most / 2, first);
        stride_ *= 2;  // n_ is a multiple of this as well
      }
      marks_.push_back(first);
      std::uint64_t left = stride_;
      do {
        ++first;
      } while (--left != 0 && first != last);
      n_ += stride_ - left;
    }
  }

  [[nodiscard]] std::uint64_t size() const noexcept { return n_; }
  [[nodiscard]] Iterator at(std::uint64_t i) const {
    Iterator found = marks_[static_cast<std::size_t>(i / stride_)];
    for (std::uint64_t left = i % stride_; left != 0; --left) ++found;
    return found;
  }

 private:
  static constexpr std::size_t most = 8192;

  std::vector<Iterator> marks_;  ///< of the items 0, stride_, 2 stride_, ...
  std::uint64_t stride_ = 1;
  std::uint64_t n_ = 0;
};

/// The landmarks have to exist as long as this.
template <std::forward_iterator Iterator>
class landmark_shape {
 public:
  explicit landmark_shape(const landmarks<Iterator>& all) noexcept : all_(&all) {}

  [[nodiscard]] std::uint64_t size() const noexcept { return all_->size(); }
  static constexpr const char* items = "iterations";
  [[nodiscard]] std::uint64_t outermost() const noexcept { return size(); }
  [[nodiscard]] std::uint64_t inside() const noexcept { return 1; }

  using place = Iterator;
  using item_type = std::iter_reference_t<Iterator>;

  [[nodiscard]] place place_of(std::uint64_t i) const { return all_->at(i); }
  [[nodiscard]] item_type item(const place& p) const { return *p; }
  void advance(place& p) const { ++p; }
  template <class Visit>
  void visit(std::uint64_t low, std::uint64_t high, std::uint64_t& at, const Visit& visit) const {
    place p = place_of(low);
    for (at = low; at != high; ++at, ++p) visit(p);
  }

 private:
  const landmarks<Iterator>* all_;
};

template <class First, class Last>
concept has_shape = requires(First first, Last last) { detail::shape_of(std::move(first), std::move(last)); };

/// Calls use(shape) with the shape of single items between these bounds.
template <class First, class Last, class Use>
[[gnu::always_inline]] inline decltype(auto) with_shape(First first, Last last, const Use& use) {
  if constexpr (has_shape<First, Last>) {
    return use(detail::shape_of(std::move(first), std::move(last)));
  } else {
    static_assert(
        std::forward_iterator<First>,
        "filch: these iterators can be gone through only once (an input stream, or a view of temporary ranges), "
        "so a loop cannot be divided. Copy the items into a container, or hand them to for_each_dynamic");
    const landmarks<First> all(std::move(first), std::move(last));
    return use(landmark_shape<First>(all));
  }
}

}  // namespace filch::detail
