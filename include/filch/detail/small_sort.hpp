// What sorts end with: insertion sort for a handful of elements, heap sort where quicksort's pivots were bad, and the
// test whether there is anything to do.
//
// Unlike those of the standard library, these never lose an element, also when a comparison throws: an element that is
// not in its range is held by a `lifted`, which puts it back. They stay inside the range whatever the comparison says.
// Where a move throws, the elements that it was to move may have any value, and the first exception is the one that
// arrives.
#pragma once

#include <cstdint>
#include <exception>
#include <iterator>
#include <type_traits>
#include <utility>

namespace filch::detail {

/// So many elements are sorted by insertion.
inline constexpr int few_elements = 24;

/// Cheaper to copy around than to wait for a branch that was guessed wrongly.
template <class T>
inline constexpr bool cheap_to_copy = std::is_trivially_copyable_v<T> && std::is_trivially_copy_constructible_v<T> &&
                                      std::is_trivially_copy_assignable_v<T> && sizeof(T) <= 32;

/// An element that was lifted out of its place; it goes to the free place, wherever that has moved to by then.
template <class Iterator>
class lifted {
 public:
  using value_type = std::iter_value_t<Iterator>;

  explicit lifted(Iterator from) : value_(std::move(*from)), free_(from) {}
  lifted(const lifted&) = delete;
  lifted& operator=(const lifted&) = delete;
  ~lifted() noexcept(moves_safely) {
    if constexpr (moves_safely) {
      *free_ = std::move(value_);
    } else {
      try {
        *free_ = std::move(value_);
      } catch (...) {
        // Beside another exception on its way out, this one would end the process.
        if (std::uncaught_exceptions() == outside_.exceptions) throw;
      }
    }
  }

  [[nodiscard]] const value_type& value() const noexcept { return value_; }
  [[nodiscard]] Iterator free_place() const noexcept { return free_; }
  /// Fills the free place with another element, whose place is free from now on.
  void fill_from(Iterator other) {
    *free_ = std::move(*other);
    free_ = other;
  }

 private:
  static constexpr bool moves_safely = std::is_nothrow_move_assignable_v<value_type>;

  /// On their way already when the element was lifted.
  struct exceptions_outside {
    int exceptions = std::uncaught_exceptions();
  };
  struct nothing {};

  value_type value_;
  Iterator free_;
  [[no_unique_address]] std::conditional_t<moves_safely, nothing, exceptions_outside> outside_;
};

/// Stable. O(n^2) comparisons, n - 1 where the range is sorted.
template <class Iterator, class Compare>
void insertion_sort(Iterator first, Iterator last, const Compare& less) {
  if (first == last) return;
  for (Iterator i = first + 1; i != last; ++i) {
    if (!less(*i, *(i - 1))) continue;
    lifted<Iterator> element(i);
    do {
      element.fill_from(element.free_place() - 1);
    } while (element.free_place() != first && less(element.value(), *(element.free_place() - 1)));
  }
}

/// O(n log n) comparisons whatever the input.
template <class Iterator, class Compare>
class heap_sort {
 public:
  using offset = std::iter_difference_t<Iterator>;

  heap_sort(Iterator first, Iterator last, const Compare& less) : first_(first), size_(last - first), less_(less) {}

  void operator()() {
    for (offset i = size_ / 2; i-- > 0;) sift(i);
    while (size_ > 1) {
      --size_;
      std::iter_swap(first_, first_ + size_);
      sift(0);
    }
  }

 private:
  /// Lets the element at `at` sink below all that are larger.
  void sift(offset at) {
    for (offset child = 2 * at + 1; child < size_; child = 2 * at + 1) {
      if (child + 1 < size_ && less_(first_[child], first_[child + 1])) ++child;
      if (!less_(first_[at], first_[child])) return;
      std::iter_swap(first_ + at, first_ + child);
      at = child;
    }
  }

  Iterator first_;
  offset size_;
  const Compare& less_;
};

}  // namespace filch::detail
