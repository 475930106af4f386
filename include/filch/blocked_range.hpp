// Ranges that loops can split: half-open intervals in one, two and three dimensions, and what any other range has to
// offer. The interface is that of oneTBB's ranges, so that bodies written for those need no change.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <filch/detail/bounds.hpp>

namespace filch {

/// Says to a range's constructor that the new range takes the second half of the old one.
struct split {};

/// A range that can be cut in two: `R(r, split{})` takes the second half away from r. A range that is not divisible is
/// handed to the body whole.
template <class R>
concept splittable_range = std::copy_constructible<R> && std::constructible_from<R, R&, split> && requires(const R& r) {
  { r.empty() } -> std::convertible_to<bool>;
  { r.is_divisible() } -> std::convertible_to<bool>;
};

/// The half-open interval [begin, end) of integers or of random-access iterators.
///
/// `grainsize`: bodies get at least this many iterations at once but for the end of the interval; 0 is the loop's own
/// choice. Divisible while it has more iterations than that, as oneTBB's.
///
/// A body that goes through a range of unsigned or short integers should ask `i < part.end()`: a compiler that has to
/// allow for i to wrap around on its way to `i != part.end()` does not vectorise it.
template <class Value>
class blocked_range {
  static_assert(!std::integral<Value> || sizeof(Value) <= sizeof(std::uint64_t),
                "filch: a blocked_range has integers of at most 64 bits: its iterations are counted in so many");

 public:
  using const_iterator = Value;
  using size_type = std::size_t;

  constexpr blocked_range(Value begin, Value end, size_type grainsize = 0)
      : begin_(begin), end_(end), grainsize_(grainsize) {}
  /// Of integers of two types: of the type that a loop with these bounds has.
  /// @throws std::invalid_argument if one is negative and the other one has no signed type that has room for both.
  template <std::integral Begin, std::integral End>
    requires detail::mixed_bounds<Value, Begin, End>
  constexpr blocked_range(Begin begin, End end, size_type grainsize = 0)
      : blocked_range(detail::converted_bound<Value>(begin), detail::converted_bound<Value>(end), grainsize) {}
  constexpr blocked_range(blocked_range& from, split /*second half*/)
      : begin_(from.middle()), end_(from.end_), grainsize_(from.grainsize_) {
    from.end_ = begin_;
  }

  [[nodiscard]] constexpr Value begin() const { return begin_; }
  [[nodiscard]] constexpr Value end() const { return end_; }
  [[nodiscard]] constexpr size_type size() const {
    if constexpr (std::integral<Value>) {
      // By way of unsigned numbers: the distance of two signed ones may not fit into their own type.
      using unsigned_value = std::make_unsigned_t<Value>;
      return end_ > begin_
                 ? static_cast<unsigned_value>(static_cast<unsigned_value>(end_) - static_cast<unsigned_value>(begin_))
                 : 0;
    } else {
      return begin_ < end_ ? static_cast<size_type>(end_ - begin_) : 0;
    }
  }
  [[nodiscard]] constexpr size_type grainsize() const { return grainsize_; }
  [[nodiscard]] constexpr bool empty() const { return !(begin_ < end_); }
  [[nodiscard]] constexpr bool is_divisible() const { return size() > (grainsize_ == 0 ? 1 : grainsize_); }

  /// The value `n` after the first. n <= size().
  [[nodiscard]] constexpr Value at(size_type n) const {
    if constexpr (std::integral<Value>) {
      using unsigned_value = std::make_unsigned_t<Value>;
      return static_cast<Value>(static_cast<unsigned_value>(static_cast<unsigned_value>(begin_) + n));
    } else {
      return begin_ + static_cast<std::ptrdiff_t>(n);
    }
  }

 private:
  [[nodiscard]] constexpr Value middle() const { return at(size() / 2); }

  Value begin_;
  Value end_;
  size_type grainsize_;
};

template <std::integral Begin, std::integral End>
  requires(!std::same_as<Begin, End>)
blocked_range(Begin, End, std::size_t = 0) -> blocked_range<detail::range_bound_t<Begin, End>>;

/// Rows times columns.
template <class Row, class Column = Row>
class blocked_range2d {
 public:
  using row_range_type = blocked_range<Row>;
  using col_range_type = blocked_range<Column>;

  constexpr blocked_range2d(Row row_begin, Row row_end, Column column_begin, Column column_end)
      : rows_(row_begin, row_end), cols_(column_begin, column_end) {}
  constexpr blocked_range2d(Row row_begin, Row row_end, std::size_t row_grain, Column column_begin, Column column_end,
                            std::size_t column_grain)
      : rows_(row_begin, row_end, row_grain), cols_(column_begin, column_end, column_grain) {}
  /// Of integers of two types, as a blocked_range.
  template <class RowBegin, class RowEnd, class ColumnBegin, class ColumnEnd>
    requires(detail::bounds_for<Row, RowBegin, RowEnd> && detail::bounds_for<Column, ColumnBegin, ColumnEnd>)
  constexpr blocked_range2d(RowBegin row_begin, RowEnd row_end, ColumnBegin column_begin, ColumnEnd column_end)
      : rows_(row_begin, row_end), cols_(column_begin, column_end) {}
  template <class RowBegin, class RowEnd, class ColumnBegin, class ColumnEnd>
    requires(detail::bounds_for<Row, RowBegin, RowEnd> && detail::bounds_for<Column, ColumnBegin, ColumnEnd>)
  constexpr blocked_range2d(RowBegin row_begin, RowEnd row_end, std::size_t row_grain, ColumnBegin column_begin,
                            ColumnEnd column_end, std::size_t column_grain)
      : rows_(row_begin, row_end, row_grain), cols_(column_begin, column_end, column_grain) {}
  constexpr blocked_range2d(row_range_type rows, col_range_type columns) : rows_(rows), cols_(columns) {}
  constexpr blocked_range2d(blocked_range2d& from, split second_half) : blocked_range2d(from) {
    if (from.cut_rows()) {
      rows_ = row_range_type(from.rows_, second_half);
    } else {
      cols_ = col_range_type(from.cols_, second_half);
    }
  }

  [[nodiscard]] constexpr const row_range_type& rows() const { return rows_; }
  [[nodiscard]] constexpr const col_range_type& cols() const { return cols_; }
  [[nodiscard]] constexpr bool empty() const { return rows_.empty() || cols_.empty(); }
  [[nodiscard]] constexpr bool is_divisible() const { return rows_.is_divisible() || cols_.is_divisible(); }

 private:
  [[nodiscard]] constexpr bool cut_rows() const {
    return rows_.is_divisible() && (!cols_.is_divisible() || rows_.size() >= cols_.size());
  }

  row_range_type rows_;
  col_range_type cols_;
};

template <class RowBegin, class RowEnd, class ColumnBegin, class ColumnEnd>
blocked_range2d(RowBegin, RowEnd, ColumnBegin, ColumnEnd)
    -> blocked_range2d<detail::range_bound_t<RowBegin, RowEnd>, detail::range_bound_t<ColumnBegin, ColumnEnd>>;
template <class RowBegin, class RowEnd, class ColumnBegin, class ColumnEnd>
blocked_range2d(RowBegin, RowEnd, std::size_t, ColumnBegin, ColumnEnd, std::size_t)
    -> blocked_range2d<detail::range_bound_t<RowBegin, RowEnd>, detail::range_bound_t<ColumnBegin, ColumnEnd>>;

/// Pages times rows times columns.
template <class Page, class Row = Page, class Column = Row>
class blocked_range3d {
 public:
  using page_range_type = blocked_range<Page>;
  using row_range_type = blocked_range<Row>;
  using col_range_type = blocked_range<Column>;

  constexpr blocked_range3d(Page page_begin, Page page_end, Row row_begin, Row row_end, Column column_begin,
                            Column column_end)
      : pages_(page_begin, page_end), plane_(row_begin, row_end, column_begin, column_end) {}
  constexpr blocked_range3d(Page page_begin, Page page_end, std::size_t page_grain, Row row_begin, Row row_end,
                            std::size_t row_grain, Column column_begin, Column column_end, std::size_t column_grain)
      : pages_(page_begin, page_end, page_grain),
        plane_(row_begin, row_end, row_grain, column_begin, column_end, column_grain) {}
  constexpr blocked_range3d(page_range_type pages, row_range_type rows, col_range_type columns)
      : pages_(pages), plane_(rows, columns) {}
  constexpr blocked_range3d(blocked_range3d& from, split second_half) : blocked_range3d(from) {
    if (from.cut_pages()) {
      pages_ = page_range_type(from.pages_, second_half);
    } else {
      plane_ = blocked_range2d<Row, Column>(from.plane_, second_half);
    }
  }

  [[nodiscard]] constexpr const page_range_type& pages() const { return pages_; }
  [[nodiscard]] constexpr const row_range_type& rows() const { return plane_.rows(); }
  [[nodiscard]] constexpr const col_range_type& cols() const { return plane_.cols(); }
  [[nodiscard]] constexpr bool empty() const { return pages_.empty() || plane_.empty(); }
  [[nodiscard]] constexpr bool is_divisible() const { return pages_.is_divisible() || plane_.is_divisible(); }

 private:
  [[nodiscard]] constexpr bool cut_pages() const {
    return pages_.is_divisible() &&
           (!plane_.is_divisible() || (pages_.size() >= rows().size() && pages_.size() >= cols().size()));
  }

  page_range_type pages_;
  blocked_range2d<Row, Column> plane_;
};

}  // namespace filch
