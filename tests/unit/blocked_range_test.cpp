#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <filch/blocked_range.hpp>
#include <filch/detail/shapes.hpp>

#include "loops.hpp"
#include "support.hpp"

namespace filch {
namespace {

static_assert(splittable_range<blocked_range<int>>);
static_assert(splittable_range<blocked_range<std::uint64_t>>);
static_assert(splittable_range<blocked_range<std::vector<int>::iterator>>);
static_assert(splittable_range<blocked_range2d<int>>);
static_assert(splittable_range<blocked_range2d<int, std::int64_t>>);
static_assert(splittable_range<blocked_range3d<int>>);
static_assert(splittable_range<blocked_range3d<std::int8_t, int, std::uint64_t>>);
static_assert(splittable_range<tests::uneven_range>);
static_assert(!splittable_range<int>);
static_assert(!splittable_range<std::vector<int>>);
static_assert(!splittable_range<std::string>);

/// Cuts a range until it is not divisible, as a loop does; leaf(part) from left to right.
template <splittable_range Range, class Leaf>
void cut(Range range, const Leaf& leaf) {
  if (range.empty()) return;
  if (!range.is_divisible()) {
    leaf(range);
    return;
  }
  Range second(range, split{});
  ASSERT_FALSE(range.empty());
  ASSERT_FALSE(second.empty());
  cut(range, leaf);
  cut(second, leaf);
}

TEST(blocked_range, knows_its_bounds) {
  constexpr blocked_range<int> range(-3, 4, 2);
  static_assert(range.begin() == -3 && range.end() == 4 && range.size() == 7 && range.grainsize() == 2);
  static_assert(!range.empty() && range.is_divisible());
  static_assert(range.at(0) == -3 && range.at(6) == 3 && range.at(7) == 4);
  static_assert(blocked_range<int>(0, 1).grainsize() == 0);
}

TEST(blocked_range, is_empty_when_the_bounds_are_equal_or_reversed) {
  for (const int last : {5, 4, -5, std::numeric_limits<int>::min()}) {
    const blocked_range<int> range(5, last);
    EXPECT_TRUE(range.empty()) << last;
    EXPECT_EQ(range.size(), 0U) << last;
    EXPECT_FALSE(range.is_divisible()) << last;
  }
  EXPECT_TRUE(blocked_range<std::uint64_t>(1, 0).empty());
  EXPECT_EQ(blocked_range<std::uint64_t>(1, 0).size(), 0U);
  const std::vector<int> some(3);
  const blocked_range reversed(some.end(), some.begin());
  EXPECT_TRUE(reversed.empty());
  EXPECT_EQ(reversed.size(), 0U);
}

TEST(blocked_range, is_divisible_while_it_has_more_than_the_grain) {
  EXPECT_FALSE((blocked_range<int>(0, 1).is_divisible()));
  EXPECT_TRUE((blocked_range<int>(0, 2).is_divisible()));
  EXPECT_FALSE((blocked_range<int>(0, 2, 2).is_divisible()));
  EXPECT_TRUE((blocked_range<int>(0, 3, 2).is_divisible()));
  EXPECT_FALSE((blocked_range<int>(0, 3, std::numeric_limits<std::size_t>::max()).is_divisible()));
}

TEST(blocked_range, gives_its_second_half_away) {
  blocked_range<int> first(10, 20, 3);
  const blocked_range<int> second(first, split{});
  EXPECT_EQ(first.begin(), 10);
  EXPECT_EQ(first.end(), 15);
  EXPECT_EQ(second.begin(), 15);
  EXPECT_EQ(second.end(), 20);
  EXPECT_EQ(first.grainsize(), 3U);
  EXPECT_EQ(second.grainsize(), 3U);
}

template <class T>
class blocked_range_of : public testing::Test {};
using integers = testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                                std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(blocked_range_of, integers);

TYPED_TEST(blocked_range_of, all_values_of_the_type_has_as_many_iterations_as_the_type_has_values_but_one) {
  using limits = std::numeric_limits<TypeParam>;
  const blocked_range<TypeParam> range(limits::min(), limits::max());
  constexpr auto distance = static_cast<std::uint64_t>(std::numeric_limits<std::make_unsigned_t<TypeParam>>::max());
  EXPECT_EQ(range.size(), distance);
  EXPECT_EQ(range.at(0), limits::min());
  EXPECT_EQ(range.at(range.size()), limits::max());
  EXPECT_TRUE(range.is_divisible());
}

TYPED_TEST(blocked_range_of, halves_meet_also_at_the_limits_of_the_type) {
  using limits = std::numeric_limits<TypeParam>;
  // A path of halvings into each corner, as deep as it goes.
  for (const bool to_the_left : {true, false}) {
    blocked_range<TypeParam> range(limits::min(), limits::max());
    while (range.is_divisible()) {
      const blocked_range<TypeParam> whole = range;
      const blocked_range<TypeParam> second(range, split{});
      ASSERT_EQ(range.begin(), whole.begin());
      ASSERT_EQ(range.end(), second.begin());
      ASSERT_EQ(second.end(), whole.end());
      ASSERT_LE(range.size() > second.size() ? range.size() - second.size() : second.size() - range.size(), 1U);
      ASSERT_EQ(range.size() + second.size(), whole.size());
      if (!to_the_left) range = second;
    }
    EXPECT_EQ(range.size(), 1U);
    EXPECT_EQ(range.begin(), to_the_left ? limits::min() : static_cast<TypeParam>(limits::max() - 1));
  }
}

TYPED_TEST(blocked_range_of, parts_are_disjoint_and_complete) {
  for (const std::size_t grain : {0, 1, 2, 7, 100}) {
    const blocked_range<TypeParam> range(std::numeric_limits<TypeParam>::max() - 100,
                                         std::numeric_limits<TypeParam>::max(), grain);
    tests::account runs(range.size());
    cut(range, [&](const blocked_range<TypeParam>& part) {
      EXPECT_LE(part.size(), grain == 0 ? 1 : grain);
      EXPECT_GE(part.size(), (grain + 1) / 2);
      for (TypeParam i = part.begin(); i != part.end(); ++i) runs.ran(static_cast<std::size_t>(i - range.begin()));
    });
    EXPECT_EQ(runs.first_not(1), runs.size()) << grain;
  }
}

template <class Iterator>
void expect_parts_of_iterators(Iterator first, Iterator last) {
  cut(blocked_range<Iterator>(first, last, 3), [](const blocked_range<Iterator>& part) {
    EXPECT_LE(part.size(), 3U);
    for (Iterator i = part.begin(); i != part.end(); ++i) ++*i;
  });
  for (; first != last; ++first) EXPECT_EQ(*first, 1);
}

TEST(blocked_range, takes_iterators) {
  std::vector<int> vector(100);
  expect_parts_of_iterators(vector.begin(), vector.end());
  std::deque<int> deque(1000);
  expect_parts_of_iterators(deque.begin(), deque.end());
  std::vector<int> more(17);
  expect_parts_of_iterators(more.data(), more.data() + more.size());
  expect_parts_of_iterators(more.data(), more.data());
}

TEST(blocked_range2d, knows_its_bounds) {
  constexpr blocked_range2d<int, long> range(1, 3, 2, -5, 5, 4);
  static_assert(range.rows().begin() == 1 && range.rows().end() == 3 && range.rows().grainsize() == 2);
  static_assert(range.cols().begin() == -5 && range.cols().end() == 5 && range.cols().grainsize() == 4);
  static_assert(!range.empty() && range.is_divisible());
  constexpr blocked_range2d<int, long> same(range.rows(), range.cols());
  static_assert(same.rows().size() == 2 && same.cols().size() == 10);
}

TEST(blocked_range2d, is_empty_when_a_dimension_is) {
  EXPECT_TRUE((blocked_range2d<int>(0, 0, 0, 5).empty()));
  EXPECT_TRUE((blocked_range2d<int>(0, 5, 3, 3).empty()));
  EXPECT_TRUE((blocked_range2d<int>(5, 0, 0, 5).empty()));
  EXPECT_FALSE((blocked_range2d<int>(0, 1, 0, 1).empty()));
}

TEST(blocked_range2d, is_divisible_when_a_dimension_is) {
  EXPECT_FALSE((blocked_range2d<int>(0, 1, 0, 1).is_divisible()));
  EXPECT_TRUE((blocked_range2d<int>(0, 1, 0, 2).is_divisible()));
  EXPECT_TRUE((blocked_range2d<int>(0, 2, 0, 1).is_divisible()));
  EXPECT_FALSE((blocked_range2d<int>(0, 4, 4, 0, 8, 8).is_divisible()));
  EXPECT_TRUE((blocked_range2d<int>(0, 4, 4, 0, 9, 8).is_divisible()));
}

TEST(blocked_range2d, parts_are_disjoint_and_complete_and_keep_the_grains) {
  struct shape {
    std::size_t rows, row_grain, columns, column_grain;
  };
  for (const shape& s : {shape{1, 0, 1, 0},
                         {1, 0, 100, 0},
                         {100, 0, 1, 0},
                         {7, 0, 5, 0},
                         {64, 4, 64, 16},
                         {3, 5, 77, 2},
                         {50, 100, 50, 1},
                         {0, 0, 9, 0},
                         {9, 0, 0, 0}}) {
    SCOPED_TRACE(testing::Message() << s.rows << " x " << s.columns);
    tests::account runs(s.rows * s.columns);
    cut(blocked_range2d<std::size_t>(0, s.rows, s.row_grain, 0, s.columns, s.column_grain),
        [&](const blocked_range2d<std::size_t>& part) {
          EXPECT_GE(part.rows().size(), std::min(s.rows, (s.row_grain + 1) / 2));
          EXPECT_GE(part.cols().size(), std::min(s.columns, (s.column_grain + 1) / 2));
          for (std::size_t r = part.rows().begin(); r != part.rows().end(); ++r) {
            for (std::size_t c = part.cols().begin(); c != part.cols().end(); ++c) runs.ran(r * s.columns + c);
          }
        });
    EXPECT_EQ(runs.first_not(1), runs.size());
  }
}

TEST(blocked_range3d, knows_its_bounds) {
  constexpr blocked_range3d<int, long, std::uint8_t> range(1, 3, 2, -5, 5, 4, 0, 255, 16);
  static_assert(range.pages().size() == 2 && range.pages().grainsize() == 2);
  static_assert(range.rows().size() == 10 && range.rows().grainsize() == 4);
  static_assert(range.cols().size() == 255 && range.cols().grainsize() == 16);
  static_assert(!range.empty() && range.is_divisible());
  constexpr blocked_range3d<int, long, std::uint8_t> same(range.pages(), range.rows(), range.cols());
  static_assert(same.pages().size() == 2 && same.rows().size() == 10 && same.cols().size() == 255);
}

// Its parts are numbered by 64 bits.
TEST(blocked_range3d, of_pages_the_grain_is_that_of_all_their_rows) {
  constexpr std::size_t many = std::size_t{1} << 62;  // of four rows each: 2^64
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  EXPECT_EQ(detail::grain_of(blocked_range3d<int>(0, 64, many, 0, 4, 1, 0, 3, 1)), all);
  EXPECT_EQ(detail::grain_of(blocked_range3d<int>(0, 64, 8, 0, 4, 1, 0, 3, 1)), 32U);
}

TEST(blocked_range3d, has_less_than_2_to_the_64_parts) {
  using shape = detail::cuboid_shape<std::uint64_t, std::uint64_t, std::uint64_t>;
  constexpr std::uint64_t half = std::uint64_t{1} << 32;
  EXPECT_THROW(shape(blocked_range3d<std::uint64_t>(0, half, 0, half, 0, 2)), std::invalid_argument);
  EXPECT_EQ(shape(blocked_range3d<std::uint64_t>(0, half, 0, half - 1, 0, 1)).size(), half * (half - 1));
}

TEST(blocked_range3d, is_empty_when_a_dimension_is) {
  EXPECT_TRUE((blocked_range3d<int>(0, 0, 0, 5, 0, 5).empty()));
  EXPECT_TRUE((blocked_range3d<int>(0, 5, 0, 0, 0, 5).empty()));
  EXPECT_TRUE((blocked_range3d<int>(0, 5, 0, 5, 0, 0).empty()));
  EXPECT_FALSE((blocked_range3d<int>(0, 1, 0, 1, 0, 1).empty()));
}

TEST(blocked_range3d, is_divisible_when_a_dimension_is) {
  EXPECT_FALSE((blocked_range3d<int>(0, 1, 0, 1, 0, 1).is_divisible()));
  EXPECT_TRUE((blocked_range3d<int>(0, 2, 0, 1, 0, 1).is_divisible()));
  EXPECT_TRUE((blocked_range3d<int>(0, 1, 0, 2, 0, 1).is_divisible()));
  EXPECT_TRUE((blocked_range3d<int>(0, 1, 0, 1, 0, 2).is_divisible()));
  EXPECT_FALSE((blocked_range3d<int>(0, 2, 2, 0, 2, 2, 0, 2, 2).is_divisible()));
}

TEST(blocked_range3d, parts_are_disjoint_and_complete) {
  struct shape {
    std::size_t pages, rows, columns, grain;
  };
  for (const shape& s : {shape{1, 1, 1, 0},
                         {1, 1, 50, 0},
                         {1, 50, 1, 0},
                         {50, 1, 1, 0},
                         {4, 5, 6, 0},
                         {16, 16, 16, 4},
                         {3, 40, 7, 5},
                         {0, 3, 3, 0},
                         {3, 0, 3, 0},
                         {3, 3, 0, 0}}) {
    SCOPED_TRACE(testing::Message() << s.pages << " x " << s.rows << " x " << s.columns);
    tests::account runs(s.pages * s.rows * s.columns);
    cut(blocked_range3d<std::size_t>(0, s.pages, s.grain, 0, s.rows, s.grain, 0, s.columns, s.grain),
        [&](const blocked_range3d<std::size_t>& part) {
          for (std::size_t p = part.pages().begin(); p != part.pages().end(); ++p) {
            for (std::size_t r = part.rows().begin(); r != part.rows().end(); ++r) {
              for (std::size_t c = part.cols().begin(); c != part.cols().end(); ++c) {
                runs.ran((p * s.rows + r) * s.columns + c);
              }
            }
          }
        });
    EXPECT_EQ(runs.first_not(1), runs.size());
  }
}

/// What a worker runs in one go comes in few rectangles, wherever it begins and ends.
template <class Shape>
void expect_few_parts(const Shape& shape, int most) {
  const auto parts = [&shape](std::uint64_t low, std::uint64_t high) {
    int count = 0;
    std::uint64_t at = 0;
    shape.visit(low, high, at, [&count](const auto& /*part*/) { ++count; });
    return count;
  };
  EXPECT_EQ(parts(0, shape.size()), 1);
  for (std::uint64_t low = 0; low < shape.size(); low += 7) {
    for (std::uint64_t high = low + 1; high <= shape.size(); high += 11) EXPECT_LE(parts(low, high), most);
  }
}

TEST(blocked_range2d, neighbouring_bands_are_one_part) {
  for (const int rows : {1, 2, 8, 62, 255, 300}) {
    for (const int columns : {1, 5, 62, 4096}) {
      expect_few_parts(detail::rectangle_shape(blocked_range2d<int>(0, rows, 0, columns)), 3);
      expect_few_parts(detail::cuboid_shape(blocked_range3d<int>(0, 3, 0, rows, 0, columns)), 5);
    }
  }
}

TEST(blocked_range, takes_bounds_of_two_types_as_loops_do) {
  const int low = -3;
  const unsigned high = 5;
  const std::vector<int> held(10);
  const blocked_range wide(low, high);
  static_assert(std::is_same_v<decltype(wide), const blocked_range<std::int64_t>>);
  EXPECT_EQ(wide.size(), 8U);
  const blocked_range positions(0, held.size(), 3);
  static_assert(std::is_same_v<decltype(positions), const blocked_range<std::size_t>>);
  EXPECT_EQ(positions.size(), 10U);
  EXPECT_EQ(positions.grainsize(), 3U);
  const blocked_range2d rectangle(0, held.size(), 2, 0, 7L, 3);
  static_assert(std::is_same_v<decltype(rectangle), const blocked_range2d<std::size_t, long>>);
  EXPECT_EQ(rectangle.rows().size() * rectangle.cols().size(), 70U);
  EXPECT_EQ(rectangle.rows().grainsize(), 2U);
  EXPECT_EQ(blocked_range2d(0, 2U, 0, 3).cols().size(), 3U);
  EXPECT_THROW(static_cast<void>(blocked_range(low, held.size())), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(blocked_range2d(0, 1, low, held.size())), std::invalid_argument);
}

}  // namespace
}  // namespace filch
