// Parallel stable merge sort. The elements move between the range and a buffer of the same size; the tree of merges
// depends on their number alone, but parts that are in order, or the other way round, have none below them. (To look for
// those takes no more than a few comparisons per element, since where one is looked at in vain up to its second half, the
// first half is found.)
//
// A comparison that throws does not stop the others: each subrange comes to where its merge would have put it, sorted
// or not, and the exception of the lowest one is thrown when all elements are back in the range.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include <filch/detail/for_blocks.hpp>
#include <filch/detail/merge.hpp>
#include <filch/detail/order_check.hpp>
#include <filch/detail/small_sort.hpp>
#include <filch/detail/sort_grain.hpp>
#include <filch/fork_join.hpp>

namespace filch::detail {

/// Room for n objects.
template <class T>
class raw_buffer {
 public:
  explicit raw_buffer(std::uint64_t n) : size_(n), memory_(std::allocator<T>().allocate(n)) {}
  raw_buffer(const raw_buffer&) = delete;
  raw_buffer& operator=(const raw_buffer&) = delete;
  ~raw_buffer() { std::allocator<T>().deallocate(memory_, size_); }

  [[nodiscard]] T* begin() const noexcept { return memory_; }

 private:
  std::uint64_t size_;
  T* memory_;
};

template <class Iterator, class Compare>
class merge_sort {
 public:
  using value_type = std::iter_value_t<Iterator>;
  static_assert(std::is_nothrow_move_constructible_v<value_type> && std::is_nothrow_move_assignable_v<value_type>);

  /// To be made by a worker.
  /// @throws std::bad_alloc; what a comparison throws.
  merge_sort(Iterator first, Iterator last, const Compare& less)
      : first_(first),
        size_(static_cast<std::uint64_t>(last - first)),
        less_(less),
        buffer_(size_),
        forked_from_(detail::sort_grain(first, size_, less)) {}

  /// Once. To be called by a worker.
  void operator()() const {
    // An odd number of merges leads from the buffer, where the leaves are sorted, back to the range.
    int levels = 1;
    while ((size_ >> levels) > leaf_until) levels += 2;
    const std::exception_ptr error = sort(0, size_, levels);
    if constexpr (!std::is_trivially_destructible_v<value_type>) {
      detail::for_blocks(size_, [this](std::uint64_t begin, std::uint64_t end) {
        std::destroy(buffer_.begin() + begin, buffer_.begin() + end);
      });
    }
    if (error) std::rethrow_exception(error);
  }

 private:
  static constexpr std::uint64_t leaf_until = 32;
  /// Larger parts are not looked at, since one worker would do that alone: their halves are found to need no merge.
  static constexpr std::uint64_t looked_at_until = std::uint64_t{1} << 14;

  [[nodiscard]] Iterator in_range(std::uint64_t i) const {
    return first_ + static_cast<std::iter_difference_t<Iterator>>(i);
  }
  [[nodiscard]] value_type* in_buffer(std::uint64_t i) const { return buffer_.begin() + i; }

  /// Sorts elements [begin, begin + n), which are in the range: to the range if the number of levels of merges is odd,
  /// else to the buffer.
  std::exception_ptr sort(std::uint64_t begin, std::uint64_t n, int levels) const {
    if (n <= looked_at_until) {
      bool done = false;
      std::exception_ptr error;
      try {
        done = detail::sort_if_run(in_range(begin), in_range(begin + n), less_);
      } catch (...) {
        error = std::current_exception();
      }
      if (done || error) {
        to_buffer(begin, n);
        if (levels % 2 != 0) std::move(in_buffer(begin), in_buffer(begin + n), in_range(begin));
        return error;
      }
    }
    if (levels == 0) return sort_leaf(begin, n);
    const std::uint64_t half = n / 2;
    const auto low = [=, this] { return sort(begin, half, levels - 1); };
    const auto high = [=, this] { return sort(begin + half, n - half, levels - 1); };
    if (n < forked_from_) {
      const std::exception_ptr low_error = low();
      const std::exception_ptr high_error = high();
      return merge_halves(begin, n, levels, low_error ? low_error : high_error);
    }
    const auto [low_error, high_error] = filch::fork_join(low, high);
    return merge_halves(begin, n, levels, low_error ? low_error : high_error);
  }

  /// Once for each element: from then on there is an object in its place in the buffer.
  void to_buffer(std::uint64_t begin, std::uint64_t n) const {
    std::uninitialized_move(in_range(begin), in_range(begin + n), in_buffer(begin));
  }

  std::exception_ptr sort_leaf(std::uint64_t begin, std::uint64_t n) const {
    to_buffer(begin, n);
    try {
      detail::insertion_sort(in_buffer(begin), in_buffer(begin + n), less_);
      return {};
    } catch (...) {
      return std::current_exception();
    }
  }

  std::exception_ptr merge_halves(std::uint64_t begin, std::uint64_t n, int levels,
                                  const std::exception_ptr& error) const {
    if (levels % 2 != 0) return merge(in_buffer(begin), n, in_range(begin), error);
    return merge(in_range(begin), n, in_buffer(begin), error);
  }
  template <class Source, class Target>
  std::exception_ptr merge(Source from, std::uint64_t n, Target to, const std::exception_ptr& error) const {
    using source_offset = std::iter_difference_t<Source>;
    const Source middle = from + static_cast<source_offset>(n / 2);
    merge_job<Source, Target> job{from, middle, middle, from + static_cast<source_offset>(n), to};
    if (!error) return merger<Source, Target, Compare>(less_).shared(job);
    job.move_rest();
    return error;
  }

  Iterator first_;
  std::uint64_t size_;
  const Compare& less_;
  raw_buffer<value_type> buffer_;
  std::uint64_t forked_from_;
};

/// For elements whose moves may throw: sorts their places, then exchanges the elements. If a comparison throws, nothing
/// has happened.
template <class Iterator, class Compare>
void sort_by_places(Iterator first, Iterator last, const Compare& less) {
  using offset = std::iter_difference_t<Iterator>;
  std::vector<offset> places(static_cast<std::size_t>(last - first));
  std::iota(places.begin(), places.end(), offset{0});
  const auto less_at = [&](offset a, offset b) { return less(first[a], first[b]); };
  merge_sort(places.data(), places.data() + places.size(), less_at)();
  // Along each cycle: what belongs to place i lies at places[i].
  for (offset i = 0; i != last - first; ++i) {
    offset to = i;
    while (places[static_cast<std::size_t>(to)] != i) {
      const offset from = std::exchange(places[static_cast<std::size_t>(to)], to);
      std::iter_swap(first + to, first + from);
      to = from;
    }
    places[static_cast<std::size_t>(to)] = to;
  }
}

}  // namespace filch::detail
