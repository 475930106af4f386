// Scans: the sums of all elements up to each one. parallel_inclusive_scan and parallel_exclusive_scan are those of the
// standard library; parallel_scan is the general one, in the functional style of oneTBB's.
//
// The results have the same bits with any number of workers and in every run, also where the operation rounds.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <ranges>
#include <utility>
#include <vector>

#include <filch/blocked_range.hpp>
#include <filch/detail/bit_shape.hpp>
#include <filch/detail/on_worker.hpp>
#include <filch/detail/range_ends.hpp>
#include <filch/detail/scan_blocks.hpp>
#include <filch/detail/shapes.hpp>

namespace filch {

/// The grain of a scan without an initial value, for which a number would be taken: `parallel_inclusive_scan(first, last, out, op,
/// scan_grain{64})`. Elements, as the grain of the other scans.
struct scan_grain {
  std::size_t elements = 0;
};

namespace detail {

/// What both scans do with an element.
template <class T, class Input, class Output, class Operation>
class scanned_elements {
 public:
  scanned_elements(Input in, Output out, const Operation& op) : in_(in), out_(out), op_(op) {}

  [[nodiscard]] T first(std::uint64_t i) const { return T(at(in_, i)); }
  void add(T& sum, std::uint64_t i) const { sum = static_cast<T>(std::invoke(op_, std::move(sum), at(in_, i))); }

 protected:
  template <class Iterator>
  [[nodiscard]] static decltype(auto) at(const Iterator& first, std::uint64_t i) {
    return first[static_cast<std::iter_difference_t<Iterator>>(i)];
  }
  Input in_;
  Output out_;
  const Operation& op_;
};

template <class T, class Input, class Output, class Operation>
class inclusive_elements : public scanned_elements<T, Input, Output, Operation> {
 public:
  using scanned_elements<T, Input, Output, Operation>::scanned_elements;

  void scan(T& sum, std::uint64_t i) const {
    this->add(sum, i);
    write(sum, i);
  }
  void write(const T& sum, std::uint64_t i) const { this->at(this->out_, i) = sum; }
};

template <class T, class Input, class Output, class Operation>
class exclusive_elements : public scanned_elements<T, Input, Output, Operation> {
 public:
  using scanned_elements<T, Input, Output, Operation>::scanned_elements;

  void scan(T& sum, std::uint64_t i) const {
    // First the sum: in and out may be the same.
    T next = static_cast<T>(std::invoke(this->op_, std::as_const(sum), this->at(this->in_, i)));
    this->at(this->out_, i) = std::move(sum);
    sum = std::move(next);
  }
};

template <class Input, class Output>
concept scan_iterators = std::random_access_iterator<Input> && std::random_access_iterator<Output>;

/// Takes two elements of a container, an array, or a view: else the first two arguments are a range's ends.
template <class Operation, class Range>
concept operation_on =
    iterable<Range> && std::ranges::random_access_range<Range> &&
    std::invocable<const Operation&, std::ranges::range_reference_t<Range>, std::ranges::range_reference_t<Range>>;

template <class Range>
auto end_of(Range& range) {
  return std::ranges::next(detail::range_begin(range), detail::range_end(range));
}

template <class Output>
constexpr void check_output() {
  static_assert(
      !leads_to_bits<Output>,
      "filch: elements of a std::vector<bool> share words, which two workers must not write at the same time. "
      "Let the scan write to a std::vector<char>");
}

/// Scans with a sum to start from.
template <class T, class Elements, class Output, class Operation>
Output scan_from(std::uint64_t n, Output out, const T& init, const Elements& elements, const Operation& op,
                 std::size_t grain) {
  detail::check_output<Output>();
  if (n == 0) return out;
  const scan_blocks blocks(n, grain);
  detail::on_worker([&] {
    element_scan<T, Elements, Operation>(blocks, elements, op)([&](std::uint64_t end) {
      const Elements own = elements;  // as in a row of blocks
      T sum = init;
      for (std::uint64_t i = 0; i != end; ++i) own.scan(sum, i);
      return sum;
    });
  });
  return out + static_cast<std::iter_difference_t<Output>>(n);
}

/// Ranges that are cut by numbers; others are halved.
template <class Range>
inline constexpr bool is_interval = false;
template <class Value>
inline constexpr bool is_interval<blocked_range<Value>> = true;

/// The ranges that a splittable range falls apart into, in their order.
template <class Range>
void list_parts(Range range, std::vector<Range>& parts) {
  if (!range.is_divisible()) {
    parts.push_back(std::move(range));
    return;
  }
  Range second(range, split{});
  detail::list_parts(std::move(range), parts);
  detail::list_parts(std::move(second), parts);
}

}  // namespace detail

/// out[i] = op(... op(op(init, first[0]), first[1]) ..., first[i]) for all i, bracketed in another way for many
/// elements.
///
/// @param out    may be `first`. Different elements are written by several threads at the same time (those of a
///               std::vector<bool> do not compile).
/// @param op     op(T, element) and op(T, T) -> T, associative but for rounding; need not be commutative. Called by
///               several threads at the same time.
/// @param init   its type T is that of the sums. It needs no default constructor.
/// @param grain  elements of a block, which one worker scans at once; in a scan of more than 4096 elements it scans four
///               neighbouring blocks side by side. 0: 1/2048 of all, at least 512, and up to 4096 in one piece. The sums of
///               blocks are added up one after the other, so for a costly op the root of n is good.
/// @return the end of the output.
/// @throws what op throws; of several exceptions always the same. What has been written until then stays.
///         std::bad_alloc if there is no memory for the sums of blocks.
/// @par Complexity up to 4096 elements (or one grain), n calls of op, one after the other; else less than 2 n, and
///                 memory for a sum of each block.
/// @par Thread safety any thread.
template <class Input, class Output, class Operation, class T>
  requires detail::scan_iterators<Input, Output>
Output parallel_inclusive_scan(Input first, Input last, Output out, const Operation& op, const T& init,
                               std::size_t grain = 0) {
  const detail::inclusive_elements<T, Input, Output, Operation> elements(first, out, op);
  return detail::scan_from(first < last ? static_cast<std::uint64_t>(last - first) : 0, out, init, elements, op, grain);
}

/// The same without `init`: the sums have the type of the elements, and the first result is the first element.
template <class Input, class Output, class Operation = std::plus<>>
  requires detail::scan_iterators<Input, Output>
Output parallel_inclusive_scan(Input first, Input last, Output out, const Operation& op = {}, scan_grain grain = {}) {
  using value = std::iter_value_t<Input>;
  detail::check_output<Output>();
  if (!(first < last)) return out;
  const auto n = static_cast<std::uint64_t>(last - first);
  const detail::inclusive_elements<value, Input, Output, Operation> elements(first, out, op);
  const detail::scan_blocks blocks(n, grain.elements);
  detail::on_worker([&] {
    detail::element_scan<value, decltype(elements), Operation>(blocks, elements, op)([&](std::uint64_t end) {
      const auto own = elements;  // as in a row of blocks
      value sum = own.first(0);
      own.write(sum, 0);
      for (std::uint64_t i = 1; i != end; ++i) own.scan(sum, i);
      return sum;
    });
  });
  return out + static_cast<std::iter_difference_t<Output>>(n);
}

/// out[i] = the same without first[i]: out[0] is `init`, and the last element is not part of any result.
template <class Input, class Output, class T, class Operation = std::plus<>>
  requires detail::scan_iterators<Input, Output>
Output parallel_exclusive_scan(Input first, Input last, Output out, const T& init, const Operation& op = {},
                               std::size_t grain = 0) {
  const detail::exclusive_elements<T, Input, Output, Operation> elements(first, out, op);
  return detail::scan_from(first < last ? static_cast<std::uint64_t>(last - first) : 0, out, init, elements, op, grain);
}

/// The same for all elements of a container, an array, or a view.
template <class Range, class Output, class Operation, class T>
  requires detail::operation_on<Operation, Range> && std::random_access_iterator<Output>
Output parallel_inclusive_scan(Range&& range, Output out, const Operation& op, const T& init, std::size_t grain = 0) {
  return filch::parallel_inclusive_scan(detail::range_begin(range), detail::end_of(range), out, op, init, grain);
}
template <class Range, class Output, class Operation = std::plus<>>
  requires detail::operation_on<Operation, Range> && std::random_access_iterator<Output>
Output parallel_inclusive_scan(Range&& range, Output out, const Operation& op = {}, scan_grain grain = {}) {
  return filch::parallel_inclusive_scan(detail::range_begin(range), detail::end_of(range), out, op, grain);
}
template <class Range, class Output, class T, class Operation = std::plus<>>
  requires detail::operation_on<Operation, Range> && std::random_access_iterator<Output>
Output parallel_exclusive_scan(Range&& range, Output out, const T& init, const Operation& op = {},
                               std::size_t grain = 0) {
  return filch::parallel_exclusive_scan(detail::range_begin(range), detail::end_of(range), out, init, op, grain);
}

/// Calls body(part, sum, true) for all parts of the range, each with the sum of what is before the part.
///
/// To know that sum, it may first call body(part, identity, false), which only adds up. Of a part the two calls are not
/// at the same time, and the one with `true` is the last.
///
/// @param range     a blocked_range, in parts of `grainsize` iterations (0: as the grain of parallel_inclusive_scan),
///                  or any other splittable range, which is cut as far as it is divisible.
/// @param identity  combine(identity, x) is x. Returned for an empty range.
/// @param body      body(const Range&, T sum, bool is_final) -> T (or, as of a loop, Range&), the sum with the part's own values added behind it.
/// @param combine   combine(T, T) -> T, associative but for rounding, left one first. Both are called by several
///                  threads at the same time.
/// @return the sum of all.
/// @throws what body or combine throws; of several exceptions always the same. std::bad_alloc if there is no memory for
///         the sums of parts.
/// @par Complexity less than two calls of body for each part.
/// @par Thread safety any thread.
template <splittable_range Range, class T, class Body, class Combine>
T parallel_scan(const Range& range, const T& identity, const Body& body, const Combine& combine) {
  static_assert(
      !detail::leads_to_bits<Range>,
      "filch: this range leads to elements of a std::vector<bool> that share words, which two workers must not "
      "change at the same time. Take a blocked_range of its constant iterators (cbegin, cend), or of numbers");
  if (range.empty()) return identity;
  return detail::on_worker([&]() -> T {
    if constexpr (detail::is_interval<Range>) {
      const detail::scan_blocks blocks(range.size(), range.grainsize());
      const auto part = [&](std::uint64_t i) {
        return Range(range.at(blocks.begin(i)), range.at(blocks.end(i)), range.grainsize());
      };
      return detail::scan_parts(blocks.count(), part, identity, body, combine);
    } else {
      std::vector<Range> parts;
      detail::list_parts(range, parts);
      return detail::scan_parts(
          parts.size(), [&](std::uint64_t i) -> const Range& { return parts[i]; }, identity, body, combine);
    }
  });
}

}  // namespace filch
