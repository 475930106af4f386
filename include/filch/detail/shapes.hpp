// Ranges of all shapes as the numbers 0 .. n-1, which is what loops divide: what an interval [low, high) of the numbers
// means to the user's body. One small class per shape; size() is n.
//
// A body of two or three dimensions gets rectangles. Rows are what is divided; where there are too few of them, columns
// are cut into bands, and the numbers run through the bands of one row after the other. Bands and rows that follow each
// other go to the body together: so a range that one worker runs is not cut into more rectangles than it has chunks, and
// a few.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <filch/blocked_range.hpp>
#include <filch/detail/bounds.hpp>
#include <filch/detail/range_ends.hpp>

namespace filch::detail {

/// Rows below which a loop over rectangles is divided in a second dimension as well.
inline constexpr std::uint64_t enough_rows = 256;

struct unit_step {
  template <std::integral T>
  explicit constexpr operator T() const noexcept {
    return 1;
  }
};

/// Integers, a fixed step apart.
template <std::integral Value, class Step>
class index_shape {
 public:
  index_shape(Value first, Step step, std::uint64_t n) : first_(first), step_(step), n_(n) {}

  [[nodiscard]] std::uint64_t size() const noexcept { return n_; }
  // Of all shapes: what the items of the outermost dimension are called, how many there are, and how many numbers of an
  // item follow each other.
  static constexpr const char* items = "iterations";
  [[nodiscard]] std::uint64_t outermost() const noexcept { return n_; }
  [[nodiscard]] std::uint64_t inside() const noexcept { return 1; }

  /// Of shapes of single items, if they say so: is any place found as fast as the next one?
  static constexpr bool has_cheap_places = true;
  /// Of shapes of single items: where the numbers are counted, and what a body is called with. Integers are counted in the
  /// user's own type, as a serial loop would. One that is computed from its number may wrap around, as far as the compiler
  /// knows, and loops over such integers are not vectorised.
  using place = Value;
  using item_type = Value;

  [[nodiscard]] place place_of(std::uint64_t i) const noexcept {
    return static_cast<Value>(static_cast<number>(
        static_cast<number>(first_) + static_cast<number>(static_cast<number>(i) * static_cast<number>(step_))));
  }
  [[nodiscard]] Value item(place p) const noexcept { return p; }
  /// To the next. Behind the last one it may be anything.
  void advance(place& p) const noexcept {
    if constexpr (std::same_as<Step, unit_step>) {
      ++p;  // at most the bound that the user gave
    } else {
      p = static_cast<place>(static_cast<number>(static_cast<number>(p) + static_cast<number>(step_)));
    }
  }
  /// Calls visit(place) for the numbers [low, high), low < high, one after the other. `at`: which one was in progress
  /// when that throws.
  template <class Visit>
  [[gnu::always_inline]] void visit(std::uint64_t low, std::uint64_t high, std::uint64_t& at,
                                    const Visit& visit) const {
    const place first = place_of(low);
    place p = first;
    try {
      if constexpr (std::same_as<Step, unit_step>) {
        const place last = place_of(high);  // at most the bound that the user gave
        for (; p < last; ++p) visit(p);
      } else {
        // Counted, since there may be no integer beyond the last one; the step is kept, since what is visited may be written to.
        const auto step = static_cast<place>(step_);
        for (std::uint64_t left = high - low;; p = static_cast<place>(p + step)) {
          visit(p);
          if (--left == 0) break;
        }
      }
    } catch (...) {
      at = low + static_cast<number>(static_cast<number>(p) - static_cast<number>(first)) / static_cast<number>(step_);
      throw;
    }
  }

 private:
  using number = std::make_unsigned_t<place>;

  Value first_;
  [[no_unique_address]] Step step_;  // a constant 1 where none was given
  std::uint64_t n_;
};

/// What random-access iterators point to. They are counted as a serial loop would: to find an element by its number may
/// cost more than to go on to the next (std::deque).
template <std::random_access_iterator Iterator>
class iterator_shape {
 public:
  iterator_shape(Iterator first, std::uint64_t n) : first_(std::move(first)), n_(n) {}

  [[nodiscard]] std::uint64_t size() const noexcept { return n_; }
  static constexpr const char* items = "iterations";
  [[nodiscard]] std::uint64_t outermost() const noexcept { return n_; }
  [[nodiscard]] std::uint64_t inside() const noexcept { return 1; }

  static constexpr bool has_cheap_places = std::contiguous_iterator<Iterator>;
  using place = Iterator;
  using item_type = std::iter_reference_t<Iterator>;

  [[nodiscard]] place place_of(std::uint64_t i) const {
    return first_ + static_cast<std::iter_difference_t<Iterator>>(i);
  }
  [[nodiscard]] item_type item(const place& p) const { return *p; }
  void advance(place& p) const { ++p; }
  template <class Visit>
  [[gnu::always_inline]] void visit(std::uint64_t low, std::uint64_t high, std::uint64_t& at,
                                    const Visit& visit) const {
    const place first = place_of(low);
    place p = first;
    try {
      for (const place last = place_of(high); p != last; ++p) visit(p);
    } catch (...) {
      at = low + static_cast<std::uint64_t>(p - first);
      throw;
    }
  }

 private:
  Iterator first_;
  std::uint64_t n_;
};

template <class Value>
blocked_range<Value> part_of(const blocked_range<Value>& range, std::uint64_t from, std::uint64_t count) {
  return {range.at(from), range.at(from + count), range.grainsize()};
}

/// An interval.
template <class Value>
class range_shape {
 public:
  using range = blocked_range<Value>;
  explicit range_shape(const range& r) : range_(r), size_(r.size()) {}

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  static constexpr const char* items = "iterations";
  [[nodiscard]] std::uint64_t outermost() const noexcept { return size(); }
  [[nodiscard]] std::uint64_t inside() const noexcept { return 1; }
  /// Calls visit(part) for the parts that [low, high) consists of; `at` is where it is.
  template <class Visit>
  void visit(std::uint64_t low, std::uint64_t high, std::uint64_t& /*at*/, Visit&& visit) const {
    visit(detail::part_of(range_, low, high - low));
  }

 private:
  range range_;
  std::uint64_t size_;  // what iterators do may throw
};

/// Columns in bands of equal width, as many as make enough numbers of `rows` rows. A power of two where the columns allow
/// it: then the chunks of a short loop end where rows do.
template <class Column>
class column_bands {
 public:
  /// `divisible`: nobody wants more than one row at a time.
  column_bands(const blocked_range<Column>& columns, std::uint64_t rows, bool divisible) : columns_(columns) {
    if (!divisible || rows == 0 || rows >= enough_rows) return;
    const std::uint64_t most = columns.size() / std::max<std::uint64_t>(1, columns.grainsize());
    count_ = std::clamp<std::uint64_t>(most, 1, std::bit_ceil((enough_rows + rows - 1) / rows));
  }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// `n` bands beginning with number `from`.
  [[nodiscard]] blocked_range<Column> bands(std::uint64_t from, std::uint64_t n) const {
    if (n == count_) return columns_;
    return detail::part_of(columns_, begin_of(from), begin_of(from + n) - begin_of(from));
  }

 private:
  [[nodiscard]] std::uint64_t begin_of(std::uint64_t band) const {
    // Width and remainder apart: their product with `band` may not fit, but each sum does.
    return band * (columns_.size() / count_) + std::min<std::uint64_t>(band, columns_.size() % count_);
  }

  blocked_range<Column> columns_;
  std::uint64_t count_ = 1;
};

template <class Row, class Column>
class rectangle_shape {
 public:
  using range = blocked_range2d<Row, Column>;
  explicit rectangle_shape(const range& r)
      : rows_(r.rows()),
        columns_(r.cols(), rows_.size(), rows_.grainsize() <= 1),
        height_(rows_.size()),
        empty_(r.empty()) {}

  [[nodiscard]] std::uint64_t size() const noexcept { return empty_ ? 0 : height_ * columns_.count(); }
  static constexpr const char* items = "rows";
  [[nodiscard]] std::uint64_t outermost() const noexcept { return height_; }
  [[nodiscard]] std::uint64_t inside() const noexcept { return columns_.count(); }
  template <class Visit>
  void visit(std::uint64_t low, std::uint64_t high, std::uint64_t& at, Visit&& visit) const {
    const std::uint64_t width = columns_.count();
    for (at = low; at != high;) {
      const std::uint64_t band = at % width;
      const std::uint64_t bands = std::min(high - at, width - band);
      const std::uint64_t rows = bands == width ? (high - at) / width : 1;
      visit(range(detail::part_of(rows_, at / width, rows), columns_.bands(band, bands)));
      at += rows * bands;
    }
  }

 private:
  blocked_range<Row> rows_;
  column_bands<Column> columns_;
  std::uint64_t height_;
  bool empty_;
};

/// @throws std::invalid_argument if it is 2^64 or more.
[[nodiscard]] inline std::uint64_t checked_product(std::uint64_t a, std::uint64_t b) {
  if (b != 0 && a > std::numeric_limits<std::uint64_t>::max() / b) {
    throw std::invalid_argument("filch: a blocked_range3d of more than 2^64 parts; make loops of its dimensions");
  }
  return a * b;
}

template <class Page, class Row, class Column>
class cuboid_shape {
 public:
  using range = blocked_range3d<Page, Row, Column>;
  explicit cuboid_shape(const range& r)
      : pages_(r.pages()),
        rows_(r.rows()),
        columns_(r.cols(), detail::checked_product(pages_.size(), rows_.size()),
                 pages_.grainsize() <= 1 && rows_.grainsize() <= 1),
        height_(rows_.size()),
        depth_(pages_.size()),
        empty_(r.empty()) {
    static_cast<void>(detail::checked_product(depth_, inside()));
  }

  [[nodiscard]] std::uint64_t size() const noexcept { return empty_ ? 0 : depth_ * inside(); }
  static constexpr const char* items = "pages";
  [[nodiscard]] std::uint64_t outermost() const noexcept { return depth_; }
  [[nodiscard]] std::uint64_t inside() const noexcept { return height_ * columns_.count(); }
  template <class Visit>
  void visit(std::uint64_t low, std::uint64_t high, std::uint64_t& at, Visit&& visit) const {
    const std::uint64_t width = columns_.count();
    for (at = low; at != high;) {
      const std::uint64_t band = at % width;
      const std::uint64_t row = at / width % height_;
      const std::uint64_t bands = std::min(high - at, width - band);
      const std::uint64_t rows = bands == width ? std::min((high - at) / width, height_ - row) : 1;
      const std::uint64_t pages = rows * bands == inside() ? (high - at) / inside() : 1;
      visit(range(detail::part_of(pages_, at / inside(), pages), detail::part_of(rows_, row, rows),
                  columns_.bands(band, bands)));
      at += pages * rows * bands;
    }
  }

 private:
  blocked_range<Page> pages_;
  blocked_range<Row> rows_;
  column_bands<Column> columns_;
  std::uint64_t height_;
  std::uint64_t depth_;
  bool empty_;
};

/// Not the integers of more bits that some compilers have: iterations are counted in 64.
template <class T>
concept loop_number =
    std::integral<T> && !std::same_as<std::remove_cv_t<T>, bool> && sizeof(T) <= sizeof(std::uint64_t);

template <class First, class Last>
concept loop_bounds =
    (loop_number<First> && loop_number<Last>) || (std::input_iterator<First> && std::sentinel_for<Last, First>);

/// Numbers that count no iterations.
template <class First, class Last>
concept other_bounds = !loop_bounds<First, Last> && (std::is_arithmetic_v<First> || std::is_enum_v<First>) &&
                       (std::is_arithmetic_v<Last> || std::is_enum_v<Last>);

template <class First, class Last>
consteval void require_loop_bounds() {
  static_assert(
      loop_bounds<First, Last>,
      "filch: the bounds of a loop are two integers of at most 64 bits, and no bool, or an iterator and its end; "
      "for other numbers count in integers, and compute the number in the body, as in 'x = x0 + i * dx'");
}

/// Anything that a range-based for loop takes and that is no range of filch's: containers, arrays, views.
template <class Range>
concept iterable = !splittable_range<std::remove_cvref_t<Range>> && requires(Range& range) {
  { detail::range_begin(range) } -> std::input_iterator;
  detail::range_end(range);
  requires std::sentinel_for<decltype(detail::range_end(range)), decltype(detail::range_begin(range))>;
};

/// The shape of a range that is known; other ranges have none.
template <std::integral First, std::integral Last>
auto shape_of(First first, Last last) {
  using value = typename bound_of<First, Last>::type;
  const blocked_range<value> range(detail::converted_bound<value>(first), detail::converted_bound<value>(last));
  return index_shape<value, unit_step>(range.begin(), unit_step{}, range.size());
}
template <std::random_access_iterator First, std::sized_sentinel_for<First> Last>
auto shape_of(First first, Last last) {
  const auto n = last - first;
  return iterator_shape<First>(std::move(first), n > 0 ? static_cast<std::uint64_t>(n) : 0);
}
template <class Value>
auto shape_of(const blocked_range<Value>& range) {
  return range_shape<Value>(range);
}
template <class Row, class Column>
auto shape_of(const blocked_range2d<Row, Column>& range) {
  return rectangle_shape<Row, Column>(range);
}
template <class Page, class Row, class Column>
auto shape_of(const blocked_range3d<Page, Row, Column>& range) {
  return cuboid_shape<Page, Row, Column>(range);
}

/// A range whose shape is known. Of others it is known how to halve them.
template <class Range>
concept shaped_range = requires(const Range& range) { detail::shape_of(range); };

template <class Value>
std::size_t grain_of(const blocked_range<Value>& range) {
  return range.grainsize();
}
template <class Row, class Column>
std::size_t grain_of(const blocked_range2d<Row, Column>& range) {
  return range.rows().grainsize();
}
template <class Page, class Row, class Column>
std::size_t grain_of(const blocked_range3d<Page, Row, Column>& range) {
  const std::size_t pages = range.pages().grainsize();
  if (pages <= 1) return range.rows().grainsize();
  const std::size_t rows = range.rows().size();
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  return rows != 0 && pages > all / rows ? all : pages * rows;
}

}  // namespace filch::detail
