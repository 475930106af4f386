// What <filch/parallel_for.hpp> promises. "Exactly once" is asked of every single iteration.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>
#include <ranges>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filch/parallel_for.hpp>

#include "loops.hpp"
#include "support.hpp"

namespace elsewhere {

struct numbers {
  std::vector<int> held = std::vector<int>(500);
};
std::vector<int>::iterator begin(numbers& n) { return n.held.begin(); }
std::vector<int>::iterator end(numbers& n) { return n.held.end(); }

}  // namespace elsewhere

namespace filch {
namespace {

using tests::account;
using tests::in_and_outside;
using tests::in_every_scheduler;
using tests::in_every_way;
using tests::linger;
using tests::named_way;
using tests::part_list;
using tests::tracked;
using tests::uneven_range;

// --- Which iterations run ---

TEST(parallel_for, runs_every_iteration_once_in_every_way) {
  in_every_way([](scheduler& s, const named_way& way) {
    for (const std::size_t n : {1, 2, 3, 10, 1000}) {
      for (const std::size_t grain : {0, 1, 7, 2000}) {
        account runs(n);
        s.run([&] {
          parallel_for(
              std::size_t{0}, n,
              [&](std::size_t i) {
                runs.ran(i);
                linger(i);
              },
              way.with_grain(grain));
        });
        ASSERT_EQ(runs.first_not(1), n) << "n " << n << ", grain " << grain;
      }
    }
  });
}

TEST(parallel_for, runs_every_iteration_once_on_any_thread) {
  in_and_outside([] {
    account runs(20'000);
    parallel_for(std::size_t{0}, runs.size(), [&](std::size_t i) {
      runs.ran(i);
      linger(i);
    });
    EXPECT_EQ(runs.first_not(1), runs.size());
  });
}

TEST(parallel_for, on_one_worker_runs_in_serial_order) {
  scheduler one({.workers = 1});
  one.run([] {
    std::vector<int> order;
    parallel_for(0, 5000, [&](int i) { order.push_back(i); });
    std::vector<int> serial(5000);
    std::iota(serial.begin(), serial.end(), 0);
    EXPECT_EQ(order, serial);
  });
}

TEST(parallel_for, does_nothing_when_the_bounds_are_equal_or_reversed) {
  in_every_way([](scheduler& s, const named_way& way) {
    s.run([&] {
      const auto never = [](auto&&) { ADD_FAILURE() << "an empty loop ran an iteration"; };
      parallel_for(0, 0, never, way.how);
      parallel_for(1, -1, never, way.how);
      parallel_for(std::numeric_limits<int>::max(), std::numeric_limits<int>::min(), never, way.how);
      parallel_for(2U, 1U, never, way.how);
      parallel_for(std::int8_t{1}, std::int8_t{-128}, never, way.how);
      parallel_for(3, 3, 2, never, way.how);
      parallel_for(3, 2, 2, never, way.how);
      parallel_for(blocked_range<long>(4, 4), never, way.how);
      parallel_for(blocked_range<long>(4, -4, 100), never, way.how);
      parallel_for(blocked_range2d<int>(0, 0, 0, 10), never, way.how);
      parallel_for(blocked_range2d<int>(0, 10, 3, 3), never, way.how);
      parallel_for(blocked_range3d<int>(0, 10, 3, 3, 0, 10), never, way.how);
      parallel_for(uneven_range(7, 7), never, way.how);
      const std::vector<int> none;
      parallel_for(none.begin(), none.end(), never, way.how);
    });
  });
}

template <class T>
class parallel_for_of : public testing::Test {};
using integers = testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                                std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(parallel_for_of, integers);

/// [first, first + n), which must not leave the type.
template <class T>
void expect_interval_runs(T first, std::size_t n, std::size_t step = 1) {
  SCOPED_TRACE(testing::Message() << "from " << +first << ", " << n << " numbers, step " << step);
  const T last = blocked_range<T>(first, std::numeric_limits<T>::max()).at(n);
  const auto number_of = [first](T i) { return blocked_range<T>(first, i).size(); };
  account runs(n);
  const auto body = [&](auto i) {
    static_assert(std::is_same_v<decltype(i), T>);
    if (const auto number = number_of(i); number < runs.size()) {
      runs.ran(number);
    } else {
      ADD_FAILURE() << "iteration " << +i << " is outside of the loop";
    }
  };
  if (step == 1) {
    parallel_for(first, last, body);
  } else {
    parallel_for(first, last, static_cast<T>(step), body);
  }
  for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(runs.runs(i), i % step == 0 ? 1U : 0U) << "number " << i;
}

TYPED_TEST(parallel_for_of, takes_bounds_anywhere_in_the_type) {
  using limits = std::numeric_limits<TypeParam>;
  in_and_outside([] {
    expect_interval_runs<TypeParam>(0, 100);
    expect_interval_runs<TypeParam>(limits::min(), 100);
    expect_interval_runs<TypeParam>(limits::max() - 100, 100);
    if constexpr (std::is_signed_v<TypeParam>) {
      expect_interval_runs<TypeParam>(-50, 100);
      expect_interval_runs<TypeParam>(-128, 255);
    }
  });
}

TYPED_TEST(parallel_for_of, takes_steps_also_beside_the_limits_of_the_type) {
  using limits = std::numeric_limits<TypeParam>;
  in_and_outside([] {
    for (const std::size_t step : {2, 3, 64, 99, 100, 101, 127}) {
      expect_interval_runs<TypeParam>(0, 100, step);
      expect_interval_runs<TypeParam>(limits::min(), 100, step);
      expect_interval_runs<TypeParam>(limits::max() - 100, 100, step);
      if constexpr (std::is_signed_v<TypeParam>) expect_interval_runs<TypeParam>(-50, 100, step);
    }
  });
}

TYPED_TEST(parallel_for_of, takes_all_values_of_the_type_but_the_last) {
  using limits = std::numeric_limits<TypeParam>;
  // Of the wide types in steps, so that it ends today.
  constexpr auto distance = static_cast<std::uint64_t>(std::numeric_limits<std::make_unsigned_t<TypeParam>>::max());
  constexpr auto step = static_cast<TypeParam>(distance > 10'000 ? limits::max() / 50 : 1);
  constexpr std::uint64_t width = static_cast<std::uint64_t>(step);
  account runs(distance / width + (distance % width != 0 ? 1 : 0));
  parallel_for(limits::min(), limits::max(), step, [&](TypeParam i) {
    const std::uint64_t offset = blocked_range<TypeParam>(limits::min(), i).size();
    EXPECT_EQ(offset % width, 0U);
    runs.ran(offset / width);
  });
  EXPECT_EQ(runs.first_not(1), runs.size());
}

TYPED_TEST(parallel_for_of, throws_what_the_lowest_throws_wherever_its_bounds_are) {
  using limits = std::numeric_limits<TypeParam>;
  in_and_outside([] {
    for (const TypeParam first : {limits::min(), TypeParam{0}, TypeParam(limits::max() - 100)}) {
      for (const std::size_t step : {1, 3}) {
        account runs(100);
        TypeParam thrown = first;
        try {
          parallel_for(first, TypeParam(first + 100), TypeParam(step), [&](TypeParam i) {
            const std::uint64_t number = blocked_range<TypeParam>(first, i).size();
            runs.ran(number);
            if (number >= 30 && number % 10 < 3) throw i;
          });
          ADD_FAILURE() << "nothing was thrown";
        } catch (TypeParam i) {
          thrown = i;
        }
        EXPECT_EQ(blocked_range<TypeParam>(first, thrown).size(), 30U);
        for (std::size_t i = 0; i <= 30; ++i) EXPECT_EQ(runs.runs(i), i % step == 0 ? 1U : 0U) << "number " << i;
      }
    }
  });
}

TEST(parallel_for, takes_bounds_of_different_types) {
  in_and_outside([] {
    account runs(100);
    parallel_for(0, runs.size(), [&](std::size_t i) { runs.ran(i); });
    parallel_for(std::uint8_t{0}, 100LL, [&](auto i) { runs.ran(static_cast<std::size_t>(i)); });
    parallel_for(std::int8_t{-50}, 50L, [&](long i) { runs.ran(static_cast<std::size_t>(i + 50)); });
    parallel_for(-50LL, std::int16_t{50}, [&](auto i) { runs.ran(static_cast<std::size_t>(i + 50)); });
    parallel_for(0U, std::uint64_t{100}, [&](std::uint64_t i) { runs.ran(i); });
    EXPECT_EQ(runs.first_not(5), runs.size());
    parallel_for(0, runs.size(), std::uint8_t{2}, [&](std::size_t i) { runs.ran(i); });
    parallel_for(std::int8_t{1}, 100L, 2, [&](long i) { runs.ran(static_cast<std::size_t>(i)); });
    EXPECT_EQ(runs.first_not(6), runs.size());
  });
}

// The type of the step says nothing of the bounds.
TEST(parallel_for, takes_steps_of_any_type_between_bounds_of_any_sign) {
  in_and_outside([] {
    account runs(100);
    const auto count = [&](std::integral auto i) {
      ASSERT_TRUE(std::cmp_greater_equal(i, -50) && std::cmp_less(i, 50));
      runs.ran(static_cast<std::size_t>(static_cast<long>(i) + 50));
    };
    parallel_for(-50, 50, 1U, count);
    parallel_for(-50, 50U, 1, count);
    parallel_for(-50L, 50L, std::size_t{1}, count);
    parallel_for(std::int8_t{-50}, std::int8_t{50}, std::uint64_t{1}, count);
    EXPECT_EQ(runs.first_not(4), runs.size());
    // Steps that the bounds' type has no room for.
    parallel_for(-50, 50, std::numeric_limits<std::uint64_t>::max(), [&](int i) { EXPECT_EQ(i, -50); });
    parallel_for(std::int8_t{-50}, std::int8_t{50}, 256, [&](int i) { EXPECT_EQ(i, -50); });
    account ends(2);
    parallel_for(std::numeric_limits<int>::min(), std::numeric_limits<int>::max(), 4'294'967'290U,
                 [&](int i) { ends.ran(i == std::numeric_limits<int>::min() ? 0 : 1); });
    parallel_for(std::int8_t{-100}, std::int8_t{127}, 226L, [&](int i) {
      EXPECT_TRUE(i == -100 || i == 126);
      ends.ran(i == -100 ? 0 : 1);
    });
    EXPECT_EQ(ends.first_not(2), ends.size());
    EXPECT_THROW(parallel_for(-50, std::size_t{50}, 1, count), std::invalid_argument);
    EXPECT_THROW(parallel_for(-50, 50, 300U, [](int) { throw std::runtime_error("body"); }), std::runtime_error);
    EXPECT_THROW(parallel_for(std::int8_t{-50}, std::int8_t{50}, 256, [](int) { throw std::runtime_error("body"); }),
                 std::runtime_error);
  });
}

TEST(parallel_for, hands_out_grains_up_to_the_largest_number) {
  std::atomic<std::uint64_t> covered = 0;
  std::atomic<int> parts = 0;
  scheduler pool({.workers = 4});
  pool.run([&] {
    parallel_for(
        blocked_range<std::uint64_t>(0, std::numeric_limits<std::uint64_t>::max(), std::uint64_t{1} << 62),
        [&](const auto& part) {
          covered += part.size();
          if (++parts > 100) std::abort();  // else it might never end
        },
        loop::dynamic{});
  });
  EXPECT_EQ(covered, std::numeric_limits<std::uint64_t>::max());
}

// Loops inside of each other that have to share an entry.
TEST(chunk_tuners, leave_those_of_loops_around_alone) {
  detail::chunk_tuners all;
  std::array<char, 4096> keys{};
  std::vector<detail::chunk_tuner*> found;
  const auto is_new = [&](detail::chunk_tuner* t) { return std::find(found.begin(), found.end(), t) == found.end(); };
  detail::chunk_tuner& outer = all.of(keys.data());
  const auto* const same =
      std::find_if(keys.begin() + 1, keys.end(), [&](char& key) { return &all.of(&key) == &outer; });
  ASSERT_NE(same, keys.end());
  detail::chunk_tuner& around = all.of(keys.data());
  found.push_back(&around);
  ++around.in_use;
  detail::chunk_tuner& inner = all.of(same);
  EXPECT_TRUE(is_new(&inner));
  EXPECT_EQ(around.key, keys.data());
  EXPECT_EQ(&all.of(same), &inner);
  EXPECT_EQ(&all.of(keys.data()), &around);
}

// Where a key lies is chance: loops that take turns keep what they have learnt, whatever their keys.
TEST(chunk_tuners, keep_those_of_loops_that_take_turns) {
  std::array<char, 2048> keys{};
  for (const char& other : keys) {
    if (&other == keys.data()) continue;
    detail::chunk_tuners of_two;
    of_two.of(keys.data()).chunk.store(5);
    of_two.of(&other).chunk.store(7);
    ASSERT_EQ(of_two.of(keys.data()).chunk.load(), 5) << "beside " << &other - keys.data();
    ASSERT_EQ(of_two.of(&other).chunk.load(), 7) << "beside " << &other - keys.data();
  }
}

TEST(parallel_for, takes_bounds_that_share_no_narrow_type) {
  // Beyond 32 bits only together with the other bound.
  const std::int64_t far = std::int64_t{1} << 40;
  account runs(1000);
  parallel_for(far - 500, far + 500, [&](std::int64_t i) { runs.ran(static_cast<std::size_t>(i - far + 500)); });
  EXPECT_EQ(runs.first_not(1), runs.size());
  account steps(1024);
  parallel_for(0, far, std::int64_t{1} << 30, [&](std::int64_t i) { steps.ran(static_cast<std::size_t>(i >> 30)); });
  EXPECT_EQ(steps.first_not(1), steps.size());
}

TEST(parallel_for, runs_steps_in_every_way) {
  in_every_way([](scheduler& s, const named_way& way) {
    for (const std::size_t step : {1, 2, 7, 499, 500, 501, 100'000}) {
      account runs(500);
      s.run([&] { parallel_for(std::size_t{0}, runs.size(), step, [&](std::size_t i) { runs.ran(i); }, way.how); });
      for (std::size_t i = 0; i < runs.size(); ++i) ASSERT_EQ(runs.runs(i), i % step == 0 ? 1U : 0U) << step;
    }
  });
}

TEST(parallel_for, refuses_a_step_that_is_not_positive) {
  const auto never = [](int) { ADD_FAILURE() << "a refused loop ran an iteration"; };
  for (const int step : {0, -1, std::numeric_limits<int>::min()}) {
    try {
      parallel_for(0, 10, step, never);
      ADD_FAILURE() << "step " << step << " was taken";
    } catch (const std::invalid_argument& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("'" + std::to_string(step) + "'"));
      EXPECT_THAT(error.what(), testing::HasSubstr("use 1 or more"));
    }
  }
  EXPECT_THROW(parallel_for(0U, 10U, 0U, never), std::invalid_argument);
  EXPECT_THROW(parallel_for(10, 0, 0, never), std::invalid_argument) << "an empty loop";
}

TEST(parallel_for, refuses_a_way_that_does_not_go_with_the_policy) {
  scheduler s({.workers = 2, .policy = "chase_lev"});
  s.run([] {
    const auto never = [](auto&&) { ADD_FAILURE() << "a refused loop ran an iteration"; };
    try {
      parallel_for(0, 10, never, loop::standard{});
      ADD_FAILURE() << "standard was taken";
    } catch (const std::invalid_argument& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("standard"));
      EXPECT_THAT(error.what(), testing::HasSubstr("chase_lev"));
    }
    EXPECT_THROW(parallel_for(0, 10, 2, never, loop::standard{}), std::invalid_argument);
    EXPECT_THROW(parallel_for(blocked_range<int>(0, 10), never, loop::standard{}), std::invalid_argument);
  });
}

// --- Iterators ---

template <class Iterator>
void expect_elements_visited(Iterator first, Iterator last) {
  in_and_outside([&] {
    parallel_for(first, last, [](auto& element) { ++element; });
    for (Iterator at = first; at != last; ++at) ASSERT_EQ(*at, 1);
    parallel_for(first, last, [](auto& element) { --element; }, loop::lazy_depth{.grain = 3});
    for (Iterator at = first; at != last; ++at) ASSERT_EQ(*at, 0);
  });
}

TEST(parallel_for, takes_random_access_iterators) {
  std::vector<int> vector(3000);
  expect_elements_visited(vector.begin(), vector.end());
  expect_elements_visited(vector.rbegin(), vector.rend());
  expect_elements_visited(vector.data(), vector.data() + vector.size());
  expect_elements_visited(vector.data() + 10, vector.data() + 11);
  std::deque<long> deque(3000);
  expect_elements_visited(deque.begin(), deque.end());
  std::array<std::uint8_t, 100> array{};
  expect_elements_visited(array.begin(), array.end());
}

TEST(parallel_for, takes_ranges_whose_ends_are_functions_beside_them) {
  elsewhere::numbers all;
  std::iota(all.held.begin(), all.held.end(), 0);
  account runs(all.held.size());
  in_and_outside([&] { parallel_for(all, [&](int i) { runs.ran(static_cast<std::size_t>(i)); }); });
  EXPECT_EQ(runs.first_not(3), runs.size());
}

TEST(parallel_for, takes_iterators_of_constants_and_of_values) {
  std::vector<std::size_t> numbers(500);
  std::iota(numbers.begin(), numbers.end(), 0);
  account runs(numbers.size());
  parallel_for(numbers.cbegin(), numbers.cend(), [&](const std::size_t& i) { runs.ran(i); });
  const auto iota = std::views::iota(std::size_t{0}, numbers.size());
  parallel_for(iota.begin(), iota.end(), [&](std::size_t i) { runs.ran(i); });
  EXPECT_EQ(runs.first_not(2), runs.size());
}

TEST(parallel_for, does_nothing_when_iterators_are_reversed) {
  std::vector<int> some(10);
  parallel_for(some.end(), some.begin(), [](int&) { ADD_FAILURE() << "an empty loop ran an iteration"; });
}

// --- Ranges ---

TEST(parallel_for, hands_out_disjoint_parts_that_are_all_of_a_range) {
  in_every_way([](scheduler& s, const named_way& way) {
    for (const std::uint64_t n : {1, 2, 5, 1000}) {
      for (const std::size_t grain : {0, 1, 3, 64, 5000}) {
        part_list parts;
        s.run([&] {
          parallel_for(
              blocked_range<std::uint64_t>(100, 100 + n, grain),
              [&](const blocked_range<std::uint64_t>& part) {
                parts.add(part.begin(), part.end());
                linger(part.begin());
              },
              way.how);
        });
        ASSERT_TRUE(parts.are_all_of(100, 100 + n)) << "n " << n << ", grain " << grain;
      }
    }
  });
}

TEST(parallel_for, keeps_the_grain_of_a_range_but_for_its_ends) {
  in_every_way([](scheduler& s, const named_way& way) {
    for (const std::size_t grain : {2, 3, 10, 99}) {
      part_list parts;
      s.run([&] {
        parallel_for(
            blocked_range<std::uint64_t>(0, 1000, grain),
            [&](const blocked_range<std::uint64_t>& part) { parts.add(part.begin(), part.end()); }, way.how);
      });
      for (const auto& [first, last] : parts.sorted()) {
        if (first != 0 && last != 1000) {
          ASSERT_GE(last - first, grain) << first << " to " << last;
        }
      }
    }
  });
}

TEST(parallel_for, hands_a_range_below_its_grain_out_whole) {
  in_every_way([](scheduler& s, const named_way& way) {
    for (const std::size_t grain : {500, 501, 1'000'000}) {
      std::atomic<int> bodies = 0;
      s.run([&] {
        parallel_for(
            blocked_range<int>(0, 500, grain),
            [&](const blocked_range<int>& part) {
              ++bodies;
              EXPECT_EQ(part.begin(), 0);
              EXPECT_EQ(part.end(), 500);
            },
            way.how);
      });
      ASSERT_EQ(bodies, 1) << grain;
    }
  });
}

TEST(parallel_for, takes_ranges_of_iterators) {
  in_and_outside([] {
    std::deque<int> numbers(5000);
    parallel_for(blocked_range(numbers.begin(), numbers.end(), 10), [](const auto& part) {
      for (int& number : part) ++number;
    });
    EXPECT_THAT(numbers, testing::Each(1));
  });
}

TEST(parallel_for, runs_ranges_far_beyond_32_bits) {
  in_every_way([](scheduler& s, const named_way& way) {
    constexpr std::uint64_t n = (std::uint64_t{1} << 40) + 3;
    part_list parts;
    s.run([&] {
      parallel_for(
          blocked_range<std::uint64_t>(5, 5 + n, std::size_t{1} << 34),
          [&](const blocked_range<std::uint64_t>& part) { parts.add(part.begin(), part.end()); }, way.how);
    });
    ASSERT_TRUE(parts.are_all_of(5, 5 + n));
  });
}

TEST(parallel_for, runs_a_range_beyond_32_bits_without_a_grain) {
  in_and_outside([] {
    constexpr std::int64_t half = std::int64_t{1} << 32;
    std::atomic<std::uint64_t> sum = 0;
    parallel_for(blocked_range<std::int64_t>(-half, half + 7),
                 [&](const blocked_range<std::int64_t>& part) { sum += part.size(); });
    EXPECT_EQ(sum, 2U * half + 7);
  });
}

TEST(parallel_for, runs_the_largest_range_there_is) {
  using limits = std::numeric_limits<std::int64_t>;
  std::atomic<std::uint64_t> sum = 0;
  parallel_for(blocked_range<std::int64_t>(limits::min(), limits::max(), std::size_t{1} << 55),
               [&](const blocked_range<std::int64_t>& part) { sum += part.size(); });
  EXPECT_EQ(sum, std::numeric_limits<std::uint64_t>::max());
}

struct shape2d {
  std::size_t rows, columns;
};
constexpr std::array<shape2d, 10> shapes2d{
    {{1, 1}, {1, 40}, {40, 1}, {2, 3}, {20, 30}, {1, 2000}, {2000, 1}, {300, 7}, {0, 9}, {9, 0}}};

TEST(parallel_for, covers_rectangles_of_every_shape) {
  in_every_way([](scheduler& s, const named_way& way) {
    for (const auto& [rows, columns] : shapes2d) {
      account runs(rows * columns);
      s.run([&] {
        parallel_for(
            blocked_range2d<std::size_t>(0, rows, 0, columns),
            [&, width = columns](const blocked_range2d<std::size_t>& part) {
              EXPECT_FALSE(part.empty());
              for (std::size_t r = part.rows().begin(); r != part.rows().end(); ++r) {
                for (std::size_t c = part.cols().begin(); c != part.cols().end(); ++c) runs.ran(r * width + c);
              }
            },
            way.how);
      });
      ASSERT_EQ(runs.first_not(1), runs.size()) << rows << " x " << columns;
    }
  });
}

/// Are the parts of one dimension as large as its grain, but for the dimension's ends?
template <class Value>
bool keeps_grain(const blocked_range<Value>& part, const blocked_range<Value>& whole) {
  return part.size() >= whole.grainsize() || part.begin() == whole.begin() || part.end() == whole.end();
}

TEST(parallel_for, keeps_the_grains_of_rectangles_but_for_their_ends) {
  in_every_scheduler([](scheduler& s) {
    for (const auto& range : {blocked_range2d<int>(0, 100, 7, 0, 50, 3), blocked_range2d<int>(-10, 10, 1, 0, 300, 50),
                              blocked_range2d<int>(0, 3, 1, -100, 100, 10), blocked_range2d<int>(0, 1000, 90, 5, 6, 1),
                              blocked_range2d<int>(0, 20, 500, 0, 20, 500)}) {
      s.run([&] {
        parallel_for(range, [&](const blocked_range2d<int>& part) {
          EXPECT_TRUE(keeps_grain(part.rows(), range.rows())) << part.rows().begin() << ' ' << part.rows().end();
          EXPECT_TRUE(keeps_grain(part.cols(), range.cols())) << part.cols().begin() << ' ' << part.cols().end();
        });
      });
    }
  });
}

TEST(parallel_for, takes_rectangles_of_different_types_and_negative_bounds) {
  in_and_outside([] {
    account runs(200 * 30);
    parallel_for(blocked_range2d<std::int8_t, std::int64_t>(-100, 100, -15, 15), [&](const auto& part) {
      for (int r = part.rows().begin(); r != part.rows().end(); ++r) {
        for (std::int64_t c = part.cols().begin(); c != part.cols().end(); ++c) {
          runs.ran(static_cast<std::size_t>((r + 100) * 30 + c + 15));
        }
      }
    });
    EXPECT_EQ(runs.first_not(1), runs.size());
  });
}

struct shape3d {
  std::size_t pages, rows, columns;
};
constexpr std::array<shape3d, 12> shapes3d{{{1, 1, 1},
                                            {1, 1, 500},
                                            {1, 500, 1},
                                            {500, 1, 1},
                                            {2, 3, 4},
                                            {11, 7, 5},
                                            {30, 1, 30},
                                            {1, 30, 30},
                                            {20, 20, 2},
                                            {0, 2, 2},
                                            {2, 0, 2},
                                            {2, 2, 0}}};

TEST(parallel_for, covers_cuboids_of_every_shape) {
  in_every_way([](scheduler& s, const named_way& way) {
    for (const auto& [pages, rows, columns] : shapes3d) {
      account runs(pages * rows * columns);
      s.run([&] {
        parallel_for(
            blocked_range3d<std::size_t>(0, pages, 0, rows, 0, columns),
            [&, height = rows, width = columns](const blocked_range3d<std::size_t>& part) {
              EXPECT_FALSE(part.empty());
              for (std::size_t p = part.pages().begin(); p != part.pages().end(); ++p) {
                for (std::size_t r = part.rows().begin(); r != part.rows().end(); ++r) {
                  for (std::size_t c = part.cols().begin(); c != part.cols().end(); ++c) {
                    runs.ran((p * height + r) * width + c);
                  }
                }
              }
            },
            way.how);
      });
      ASSERT_EQ(runs.first_not(1), runs.size()) << pages << " x " << rows << " x " << columns;
    }
  });
}

TEST(parallel_for, covers_cuboids_with_grains) {
  in_and_outside([] {
    const blocked_range3d<int> range(0, 9, 2, -5, 20, 4, 0, 30, 7);
    account runs(std::size_t{9} * 25 * 30);
    parallel_for(range, [&](const blocked_range3d<int>& part) {
      for (int p = part.pages().begin(); p != part.pages().end(); ++p) {
        for (int r = part.rows().begin(); r != part.rows().end(); ++r) {
          for (int c = part.cols().begin(); c != part.cols().end(); ++c) {
            runs.ran(static_cast<std::size_t>((p * 25 + r + 5) * 30 + c));
          }
        }
      }
    });
    EXPECT_EQ(runs.first_not(1), runs.size());
  });
}

TEST(parallel_for, keeps_the_grains_of_cuboids_but_for_their_ends) {
  in_every_scheduler([](scheduler& s) {
    const blocked_range3d<int> range(0, 20, 3, -10, 15, 4, 0, 30, 7);
    s.run([&] {
      parallel_for(range, [&](const blocked_range3d<int>& part) {
        EXPECT_TRUE(keeps_grain(part.pages(), range.pages())) << part.pages().begin() << ' ' << part.pages().end();
        EXPECT_TRUE(keeps_grain(part.rows(), range.rows())) << part.rows().begin() << ' ' << part.rows().end();
        EXPECT_TRUE(keeps_grain(part.cols(), range.cols())) << part.cols().begin() << ' ' << part.cols().end();
      });
    });
  });
}

TEST(parallel_for, halves_any_other_range_until_it_is_not_divisible) {
  in_every_way([](scheduler& s, const named_way& way) {
    for (const std::size_t largest : {1, 5, 1000}) {
      part_list parts;
      s.run([&] {
        parallel_for(
            uneven_range(10, 700, largest),
            [&](const uneven_range& part) {
              EXPECT_FALSE(part.is_divisible());
              parts.add(part.first(), part.last());
            },
            way.how);
      });
      ASSERT_TRUE(parts.are_all_of(10, 700)) << largest;
    }
  });
}

// --- Where loops may be ---

TEST(parallel_for, nests_three_deep_in_every_way) {
  in_every_way([](scheduler& s, const named_way& way) {
    constexpr std::size_t n = 9;
    account runs(n * n * n);
    s.run([&] {
      parallel_for(
          std::size_t{0}, n,
          [&](std::size_t i) {
            parallel_for(
                std::size_t{0}, n,
                [&](std::size_t j) {
                  parallel_for(
                      std::size_t{0}, n,
                      [&, j](std::size_t k) {
                        runs.ran((i * n + j) * n + k);
                        linger(i * n + j * 8 + k);
                      },
                      way.how);
                },
                way.how);
          },
          way.how);
    });
    ASSERT_EQ(runs.first_not(1), runs.size());
  });
}

TEST(parallel_for, nests_in_different_ways) {
  in_every_scheduler([](scheduler& s) {
    for (const named_way& outer : tests::ways_for(s.policy())) {
      for (const named_way& inner : tests::ways_for(s.policy())) {
        account runs(100);
        s.run([&] {
          parallel_for(
              0, 10,
              [&](int i) {
                parallel_for(0, 10, [&](int j) { runs.ran(static_cast<std::size_t>(10 * i + j)); }, inner.how);
              },
              outer.how);
        });
        ASSERT_EQ(runs.first_not(1), runs.size()) << inner << " in " << outer;
      }
    }
  });
}

/// Runs the numbers [first, last) by loops of three iterations each, as deep as it takes.
void divide(account& runs, std::size_t first, std::size_t last, splitting how) {
  if (last - first <= 1) {
    if (first != last) runs.ran(first);
    linger(first);
    return;
  }
  const std::size_t n = last - first;
  parallel_for(
      std::size_t{0}, std::size_t{3},
      [&, first, n](std::size_t i) { divide(runs, first + n * i / 3, first + n * (i + 1) / 3, how); }, how);
}

TEST(parallel_for, recurses) {
  in_every_way([](scheduler& s, const named_way& way) {
    account runs(400);
    s.run([&] { divide(runs, 0, runs.size(), way.how); });
    ASSERT_EQ(runs.first_not(1), runs.size());
  });
}

TEST(parallel_for, goes_with_tasks_inside_and_around_it) {
  in_every_way([](scheduler& s, const named_way& way) {
    account runs(4 * 200);
    const auto loop_from = [&](std::size_t from) {
      parallel_for(
          from, from + 200, std::size_t{4},
          [&](std::size_t i) {
            fork_join([&] { runs.ran(i); },
                      [&] {
                        task_group group;
                        for (std::size_t k = 1; k < 4; ++k) group.run([&runs, i, k] { runs.ran(i + k); });
                        group.wait();
                      });
          },
          way.how);
    };
    s.run([&] {
      fork_join([&] { loop_from(0); }, [&] { loop_from(200); });
      task_group group;
      group.run([&] { loop_from(400); });
      group.run([&] { loop_from(600); });
      group.wait();
    });
    ASSERT_EQ(runs.first_not(1), runs.size());
  });
}

TEST(parallel_for, may_be_between_the_tasks_of_a_group_and_their_wait) {
  in_every_way([](scheduler& s, const named_way& way) {
    account runs(300);
    s.run([&] {
      task_group group;
      for (std::size_t i = 0; i < 50; ++i) group.run([&runs, i] { runs.ran(i); });
      parallel_for(
          std::size_t{50}, std::size_t{150},
          [&](std::size_t i) {
            runs.ran(i);
            group.run([&runs, i] { runs.ran(i + 100); });  // a group of an outer scope
          },
          way.how);
      for (std::size_t i = 250; i < 300; ++i) group.run([&runs, i] { runs.ran(i); });
      group.wait();
    });
    ASSERT_EQ(runs.first_not(1), runs.size());
  });
}

TEST(parallel_for, contains_reductions) {
  in_every_way([](scheduler& s, const named_way& way) {
    account right(60);
    s.run([&] {
      parallel_for(
          std::size_t{0}, right.size(),
          [&](std::size_t i) {
            if (parallel_reduce(std::size_t{0}, i, i, std::identity{}) == i + i * (i - 1) / 2) right.ran(i);
          },
          way.how);
    });
    ASSERT_EQ(right.first_not(1), right.size());
  });
}

TEST(parallel_for, returns_on_the_thread_that_called) {
  in_every_way([](scheduler& s, const named_way& way) {
    s.run([&] {
      parallel_for(
          0, 20,
          [&](int) {
            const auto here = std::this_thread::get_id();
            parallel_for(0, 20, [](int) {}, way.how);
            EXPECT_EQ(std::this_thread::get_id(), here);
          },
          way.how);
    });
  });
}

TEST(parallel_for, runs_in_another_scheduler_inside_a_loop) {
  scheduler inner({.workers = 3, .policy = "chase_lev"});
  in_every_scheduler([&](scheduler& outer) {
    account runs(20 * 30);
    outer.run([&] {
      parallel_for(std::size_t{0}, std::size_t{20}, [&](std::size_t i) {
        inner.run([&] {
          parallel_for(std::size_t{0}, std::size_t{30}, [&](std::size_t j) {
            if (j % 10 == 0) {
              outer.run([&] { runs.ran(i * 30 + j); });
            } else {
              runs.ran(i * 30 + j);
            }
          });
        });
      });
    });
    ASSERT_EQ(runs.first_not(1), runs.size());
  });
}

/// body(number) on two threads at the same time.
template <class Body>
void on_two_threads(Body body) {
  std::thread first([&] { body(0); });
  std::thread second([&] { body(1); });
  first.join();
  second.join();
}

TEST(parallel_for, runs_from_two_threads_at_once_in_one_scheduler) {
  in_every_way([](scheduler& s, const named_way& way) {
    account runs(2 * 500);
    on_two_threads([&](std::size_t thread) {
      s.run([&] { parallel_for(thread * 500, (thread + 1) * 500, [&](std::size_t i) { runs.ran(i); }, way.how); });
    });
    ASSERT_EQ(runs.first_not(1), runs.size());
  });
}

TEST(parallel_for, runs_from_two_threads_at_once_that_are_no_workers) {
  for (int round = 0; round < 10; ++round) {
    account runs(2 * 3000);
    on_two_threads([&](std::size_t thread) {
      parallel_for(thread * 3000, (thread + 1) * 3000, [&](std::size_t i) { runs.ran(i); });
    });
    ASSERT_EQ(runs.first_not(1), runs.size());
  }
}

// --- Bodies ---

/// A body with a state, which can be neither copied nor moved.
struct counter {
  account* runs;
  std::atomic<std::size_t> calls{0};

  explicit counter(account& of) : runs(&of) {}
  counter(const counter&) = delete;
  counter& operator=(const counter&) = delete;
  ~counter() = default;
  void operator()(std::size_t i) {
    runs->ran(i);
    ++calls;
  }
};

TEST(parallel_for, calls_bodies_that_cannot_be_copied_where_they_are) {
  in_and_outside([] {
    account runs(1000);
    counter body(runs);
    parallel_for(std::size_t{0}, runs.size(), body);
    EXPECT_EQ(body.calls, runs.size());
    parallel_for(std::size_t{0}, runs.size(), counter(runs));
    EXPECT_EQ(runs.first_not(2), runs.size());
  });
}

TEST(parallel_for, calls_a_mutable_body_where_it_is) {
  scheduler one({.workers = 1});
  one.run([] {
    struct {
      int calls = 0;
      void operator()(int /*i*/) { ++calls; }
      void operator()(const blocked_range<int>& part) { calls += static_cast<int>(part.size()); }
    } body;
    parallel_for(0, 100, body);
    EXPECT_EQ(body.calls, 100);
    parallel_for(0, 100, 2, body);
    EXPECT_EQ(body.calls, 150);
    parallel_for(blocked_range<int>(0, 100), body);
    EXPECT_EQ(body.calls, 250);
    int sum = 0;
    parallel_for(0, 10, [sum, out = &sum](int i) mutable { *out = sum += i; });
    EXPECT_EQ(sum, 45);
  });
}

std::atomic<int> called{0};
void call(int /*i*/) { ++called; }

TEST(parallel_for, takes_functions_and_whatever_else_can_be_called) {
  in_and_outside([] {
    called = 0;
    parallel_for(0, 50, &call);
    void (*const pointer)(int) = call;
    parallel_for(0, 50, pointer);
    parallel_for(0, 50, std::function<void(int)>(call));
    parallel_for(0, 50, std::ref(call));
    parallel_for(0, 100, 2, &call);
    EXPECT_EQ(called, 250);
  });
}

TEST(parallel_for, takes_constant_bodies_and_ignores_what_they_return) {
  in_and_outside([] {
    account runs(500);
    const auto body = [&runs](std::size_t i) {
      runs.ran(i);
      return std::string("ignored");
    };
    parallel_for(std::size_t{0}, runs.size(), body);
    parallel_for(std::size_t{0}, runs.size(), std::as_const(body));
    EXPECT_EQ(runs.first_not(2), runs.size());
  });
}

TEST(parallel_for, takes_bodies_with_large_captures) {
  in_and_outside([] {
    std::array<std::size_t, 500> numbers{};
    std::iota(numbers.begin(), numbers.end(), 0);
    account runs(numbers.size());
    parallel_for(std::size_t{0}, runs.size(), [&runs, numbers](std::size_t i) { runs.ran(numbers[i]); });
    EXPECT_EQ(runs.first_not(1), runs.size());
  });
}

TEST(parallel_for, takes_bodies_that_can_only_be_moved_and_leaves_them_be) {
  in_and_outside([] {
    account runs(500);
    auto body = [p = std::make_unique<account*>(&runs)](std::size_t i) { (*p)->ran(i); };
    parallel_for(std::size_t{0}, runs.size(), body);
    parallel_for(std::size_t{0}, runs.size(), body);
    parallel_for(std::size_t{0}, runs.size(), std::move(body));
    EXPECT_EQ(runs.first_not(3), runs.size());
  });
}

/// Counts the iterations it is called for.
struct counting_body {
  std::atomic<std::size_t>* calls;
  void operator()(int /*i*/) const volatile { ++*calls; }
  void operator()(const blocked_range<int>& part) const volatile { *calls += part.size(); }
};
/// Trivially copyable types whose objects cannot be copied, or not from where one would think.
struct uncopyable_body : counting_body {
  explicit uncopyable_body(std::atomic<std::size_t>& of) : counting_body{&of} {}
  uncopyable_body(const uncopyable_body&) = delete;
  uncopyable_body& operator=(const uncopyable_body&) = default;
};
struct only_movable_body : counting_body {
  explicit only_movable_body(std::atomic<std::size_t>& of) : counting_body{&of} {}
  only_movable_body(only_movable_body&&) = default;
  only_movable_body& operator=(only_movable_body&&) = default;
};
struct copied_from_mutable_body : counting_body {
  explicit copied_from_mutable_body(std::atomic<std::size_t>& of) : counting_body{&of} {}
  copied_from_mutable_body(copied_from_mutable_body&) = default;
};
struct greedy_body : counting_body {
  explicit greedy_body(std::atomic<std::size_t>& of) : counting_body{&of} {}
  template <class Any>
  explicit(false) greedy_body(Any&& /*other*/) : counting_body{nullptr} {  // NOLINT(*-forwarding-reference-overload)
    ADD_FAILURE() << "copied by a constructor that is not for copies";
  }
  greedy_body(const greedy_body&) = default;
};
struct unaddressable_body : counting_body {
  explicit unaddressable_body(std::atomic<std::size_t>& of) : counting_body{&of} {}
  void operator&() const = delete;  // NOLINT(google-runtime-operator)
};
struct volatile_body : counting_body {
  explicit volatile_body(std::atomic<std::size_t>& of) : counting_body{&of} {}
};

template <class Body>
class parallel_for_with : public testing::Test {};
using bodies = testing::Types<uncopyable_body, const uncopyable_body, only_movable_body, copied_from_mutable_body,
                              greedy_body, unaddressable_body, volatile_body, volatile volatile_body>;
TYPED_TEST_SUITE(parallel_for_with, bodies);

TYPED_TEST(parallel_for_with, calls_whatever_can_be_called) {
  static_assert(std::is_trivially_copyable_v<TypeParam>);
  in_and_outside([] {
    std::atomic<std::size_t> calls{0};
    TypeParam body(calls);
    parallel_for(0, 100, body);
    parallel_for(0, 100, 2, body);
    parallel_for(blocked_range<int>(0, 100), body);
    EXPECT_EQ(calls, 250U);
  });
}

TEST(parallel_for, leaves_no_copy_of_a_body_behind) {
  in_every_way([](scheduler& s, const named_way& way) {
    {
      const tracked captured(1);
      s.run([&] { parallel_for(0, 100, [captured](int) { EXPECT_EQ(captured.value(), 1U); }, way.how); });
    }
    ASSERT_EQ(tracked::alive, 0);
  });
}

// --- Exceptions ---

/// What a loop threw.
template <class Exception, class Loop>
std::size_t thrown_by(Loop loop) {
  try {
    loop();
  } catch (const Exception& thrown) {
    return thrown.value();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ~std::size_t{0};
}

TEST(parallel_for, throws_what_one_iteration_throws) {
  in_every_way([](scheduler& s, const named_way& way) {
    for (const std::size_t bad : {0, 1, 150, 298, 299}) {
      account runs(300);
      const std::size_t thrown = thrown_by<tracked>([&] {
        s.run([&] {
          parallel_for(
              std::size_t{0}, runs.size(),
              [&](std::size_t i) {
                runs.ran(i);
                linger(i);
                if (i == bad) throw tracked(i);
              },
              way.how);
        });
      });
      ASSERT_EQ(thrown, bad);
      tests::expect_ran_up_to(runs, bad);
      ASSERT_EQ(tracked::alive, 0);
    }
  });
}

TEST(parallel_for, throws_what_the_lowest_of_several_throws) {
  in_every_way([](scheduler& s, const named_way& way) {
    for (const std::size_t first : {0, 100, 250}) {
      account runs(300);
      const std::size_t thrown = thrown_by<tracked>([&] {
        s.run([&] {
          parallel_for(
              std::size_t{0}, runs.size(),
              [&](std::size_t i) {
                runs.ran(i);
                linger(i);
                if (i >= first && i % 10 == 0) throw tracked(i);
              },
              way.how);
        });
      });
      ASSERT_EQ(thrown, first);
      tests::expect_ran_up_to(runs, first);
      ASSERT_EQ(tracked::alive, 0);
    }
  });
}

/// Of an array, without a difference: whoever asks for it gets an exception.
struct distance_fails {
  using iterator_concept = std::random_access_iterator_tag;
  using value_type = int;
  using difference_type = std::ptrdiff_t;
  int* at = nullptr;

  int& operator*() const { return *at; }
  int& operator[](std::ptrdiff_t i) const { return at[i]; }
  distance_fails& operator++() { return *this += 1; }
  distance_fails operator++(int) { return {at++}; }
  distance_fails& operator--() { return *this += -1; }
  distance_fails operator--(int) { return {at--}; }
  distance_fails& operator+=(std::ptrdiff_t i) { return at += i, *this; }
  distance_fails& operator-=(std::ptrdiff_t i) { return at -= i, *this; }
  [[maybe_unused]] friend distance_fails operator+(distance_fails a, std::ptrdiff_t i) { return {a.at + i}; }
  [[maybe_unused]] friend distance_fails operator+(std::ptrdiff_t i, distance_fails a) { return {a.at + i}; }
  [[maybe_unused]] friend distance_fails operator-(distance_fails a, std::ptrdiff_t i) { return {a.at - i}; }
  friend std::ptrdiff_t operator-(distance_fails /*a*/, distance_fails /*b*/) { throw std::range_error("distance"); }
  friend auto operator<=>(distance_fails, distance_fails) = default;
};

TEST(parallel_for, throws_what_iterators_throw) {
  std::array<int, 10> items{};
  const distance_fails first{items.data()};
  const distance_fails last{items.data() + items.size()};
  scheduler s(2);
  s.run([&] {
    EXPECT_THROW(parallel_for(first, last, [](int /*item*/) {}), std::range_error);
    EXPECT_THROW(parallel_for(blocked_range<distance_fails>(first, last), [](const auto& /*part*/) {}),
                 std::range_error);
    const auto sum = [](const auto& /*part*/, int before) { return before; };
    EXPECT_THROW(parallel_reduce(blocked_range<distance_fails>(first, last), 0, sum, std::plus<>()), std::range_error);
  });
}

TEST(parallel_for, throws_when_every_iteration_throws) {
  in_every_way([](scheduler& s, const named_way& way) {
    const std::size_t thrown = thrown_by<tracked>([&] {
      s.run([&] { parallel_for(std::size_t{0}, std::size_t{50}, [](std::size_t i) { throw tracked(i); }, way.how); });
    });
    ASSERT_EQ(thrown, 0U);
    ASSERT_EQ(tracked::alive, 0);
  });
}

TEST(parallel_for, with_steps_throws_what_the_lowest_throws) {
  in_every_scheduler([](scheduler& s) {
    account runs(300);
    const std::size_t thrown = thrown_by<tracked>([&] {
      s.run([&] {
        parallel_for(std::size_t{0}, 3 * runs.size(), std::size_t{3}, [&](std::size_t i) {
          runs.ran(i / 3);
          if (i >= 300 && i % 30 == 0) throw tracked(i);
        });
      });
    });
    ASSERT_EQ(thrown, 300U);
    tests::expect_ran_up_to(runs, 100);
  });
}

TEST(parallel_for, of_ranges_throws_what_the_lowest_part_throws) {
  in_every_way([](scheduler& s, const named_way& way) {
    const auto numbers_from = [](account& runs, std::size_t first, std::size_t last) {
      for (std::size_t i = first; i != last; ++i) {
        runs.ran(i);
        linger(i);
        if (i >= 100 && i % 10 == 7) throw tracked(i);
      }
    };
    for (const std::size_t grain : {0, 1, 8, 1000}) {
      account runs(300);
      const std::size_t thrown = thrown_by<tracked>([&] {
        s.run([&] {
          parallel_for(
              blocked_range<std::size_t>(0, runs.size(), grain),
              [&](const blocked_range<std::size_t>& part) { numbers_from(runs, part.begin(), part.end()); }, way.how);
        });
      });
      ASSERT_EQ(thrown, 107U);
      tests::expect_ran_up_to(runs, 107);
    }
    account runs(300);
    const std::size_t thrown = thrown_by<tracked>([&] {
      s.run([&] {
        parallel_for(
            uneven_range(0, runs.size(), 3),
            [&](const uneven_range& part) { numbers_from(runs, part.first(), part.last()); }, way.how);
      });
    });
    ASSERT_EQ(thrown, 107U);
    tests::expect_ran_up_to(runs, 107);
    ASSERT_EQ(tracked::alive, 0);
  });
}

TEST(parallel_for, of_rectangles_and_cuboids_throws) {
  in_every_way([](scheduler& s, const named_way& way) {
    const auto contains = [](const auto& range, int i) { return range.begin() <= i && i < range.end(); };
    const std::size_t of_rectangle = thrown_by<tracked>([&] {
      s.run([&] {
        parallel_for(
            blocked_range2d<int>(0, 20, 0, 30),
            [&](const blocked_range2d<int>& part) {
              if (contains(part.rows(), 13) && contains(part.cols(), 17)) throw tracked(1317);
            },
            way.how);
      });
    });
    ASSERT_EQ(of_rectangle, 1317U);
    const std::size_t of_cuboid = thrown_by<tracked>([&] {
      s.run([&] {
        parallel_for(
            blocked_range3d<int>(0, 5, 0, 6, 0, 7),
            [&](const blocked_range3d<int>& part) {
              if (contains(part.pages(), 4) && contains(part.rows(), 0) && contains(part.cols(), 3)) throw tracked(403);
            },
            way.how);
      });
    });
    ASSERT_EQ(of_cuboid, 403U);
    ASSERT_EQ(tracked::alive, 0);
  });
}

TEST(parallel_for, throws_what_the_lowest_throws_at_any_depth) {
  in_every_way([](scheduler& s, const named_way& way) {
    constexpr std::size_t n = 7;
    constexpr std::size_t first = 120;
    account runs(n * n * n);
    const std::size_t thrown = thrown_by<tracked>([&] {
      s.run([&] {
        parallel_for(
            std::size_t{0}, n,
            [&](std::size_t i) {
              parallel_for(
                  std::size_t{0}, n,
                  [&](std::size_t j) {
                    parallel_for(
                        std::size_t{0}, n,
                        [&, j](std::size_t k) {
                          const std::size_t number = (i * n + j) * n + k;
                          runs.ran(number);
                          linger(number);
                          if (number >= first && number % 11 == first % 11) throw tracked(number);
                        },
                        way.how);
                  },
                  way.how);
            },
            way.how);
      });
    });
    ASSERT_EQ(thrown, first);
    tests::expect_ran_up_to(runs, first);
    ASSERT_EQ(tracked::alive, 0);
  });
}

TEST(parallel_for, contains_loops_that_throw_and_are_caught) {
  in_every_way([](scheduler& s, const named_way& way) {
    account caught(50);
    s.run([&] {
      parallel_for(
          std::size_t{0}, caught.size(),
          [&](std::size_t i) {
            const std::size_t thrown = thrown_by<tracked>([&] {
              parallel_for(
                  std::size_t{0}, std::size_t{20},
                  [i](std::size_t k) {
                    if (k == i % 20) throw tracked(i);
                  },
                  way.how);
            });
            if (thrown == i) caught.ran(i);
          },
          way.how);
    });
    ASSERT_EQ(caught.first_not(1), caught.size());
  });
}

/// Through which all loops of a program may go: its loops have one type.
void run_parts(int n, const std::function<void(blocked_range<int>)>& body) {
  parallel_for(blocked_range<int>(0, n), body);
}

TEST(parallel_for, that_has_contained_a_loop_has_chunks_again_when_it_contains_none) {
  scheduler pool(1);
  pool.run([] {
    constexpr int n = 1 << 18;
    const auto calls = [] {
      int all = 0;
      run_parts(n, [&](blocked_range<int>) { ++all; });
      return all;
    };
    EXPECT_LT(calls(), n / 4);
    run_parts(2, [&](blocked_range<int> outer) {
      for (int i = outer.begin(); i != outer.end(); ++i) run_parts(2, [](blocked_range<int>) {});
    });
    EXPECT_LT(calls(), n / 4);
    EXPECT_LT(calls(), n / 4);
  });
}

TEST(parallel_for, in_a_loop_of_its_own_type_has_chunks_and_that_one_has_none) {
  scheduler pool(1);
  pool.run([] {
    constexpr int n = 1 << 16;
    for (int again = 0; again != 3; ++again) {
      int outer_calls = 0;
      int inner_calls = 0;
      run_parts(16, [&](blocked_range<int> outer) {
        ++outer_calls;
        for (int i = outer.begin(); i != outer.end(); ++i) run_parts(n, [&](blocked_range<int>) { ++inner_calls; });
      });
      EXPECT_EQ(outer_calls, 16);
      EXPECT_LT(inner_calls, 16 * n / 4);
    }
  });
}

TEST(parallel_for, can_be_used_again_after_an_exception) {
  in_every_way([](scheduler& s, const named_way& way) {
    bool fails = true;
    account runs(200);
    const auto loop = [&] {
      s.run([&] {
        parallel_for(
            std::size_t{0}, runs.size(),
            [&](std::size_t i) {
              if (fails && i % 20 == 3) throw std::runtime_error("iteration");
              if (!fails) runs.ran(i);
              linger(i);
            },
            way.how);
      });
    };
    ASSERT_THROW(loop(), std::runtime_error);
    fails = false;
    ASSERT_NO_THROW(loop());
    ASSERT_EQ(runs.first_not(1), runs.size());
  });
}

TEST(parallel_for, throws_to_a_thread_that_is_no_worker) {
  for (int round = 0; round < 20; ++round) {
    const std::size_t thrown = thrown_by<tracked>([] {
      parallel_for(std::size_t{0}, std::size_t{1000}, [](std::size_t i) {
        if (i >= 500) throw tracked(i);
      });
    });
    ASSERT_EQ(thrown, 500U);
  }
}

// --- Stopping ---

TEST(parallel_for, of_nothing_is_stopped_too) {
  std::stop_source source;
  const auto body = [](int /*i*/) { FAIL(); };
  EXPECT_EQ(parallel_for(0, 0, body, {}, source.get_token()), loop_status::complete);
  source.request_stop();
  EXPECT_EQ(parallel_for(0, 0, body, {}, source.get_token()), loop_status::stopped);
  EXPECT_EQ(parallel_for(0, 1, body, {}, source.get_token()), loop_status::stopped);
}

TEST(parallel_for, is_complete_when_nobody_stops_it) {
  in_every_way([](scheduler& s, const named_way& way) {
    const std::stop_source source;
    for (const std::stop_token& token : {std::stop_token(), source.get_token()}) {
      account runs(500);
      s.run([&] {
        ASSERT_EQ(parallel_for(
                      std::size_t{0}, runs.size(), [&](std::size_t i) { runs.ran(i); }, way.how, token),
                  loop_status::complete);
        const auto of_range = parallel_for(
            blocked_range<std::size_t>(0, runs.size()),
            [&](const blocked_range<std::size_t>& part) {
              for (std::size_t i = part.begin(); i != part.end(); ++i) runs.ran(i);
            },
            way.how, token);
        ASSERT_EQ(of_range, loop_status::complete);
        const auto of_others = parallel_for(
            uneven_range(0, runs.size()), [&](const uneven_range& part) { runs.ran(part.first()); }, way.how, token);
        ASSERT_EQ(of_others, loop_status::complete);
        ASSERT_EQ(parallel_for(0, 0, [](int) {}, way.how, token), loop_status::complete);
      });
      ASSERT_EQ(runs.first_not(3), runs.size());
    }
  });
}

TEST(parallel_for, says_so_when_an_iteration_stops_it) {
  in_every_way([](scheduler& s, const named_way& way) {
    using stop = std::pair<std::size_t, std::size_t>;  // the step, and who stops it
    for (const auto& [step, last] : {stop{1, 0}, stop{1, 100}, stop{1, 499}, stop{3, 0}, stop{3, 99}, stop{3, 498}}) {
      std::stop_source source;
      account runs(500);
      const auto body = [&, it = last](std::size_t i) {
        runs.ran(i);
        linger(i);
        if (i == it) source.request_stop();
      };
      s.run([&, by = step] {
        const auto status = by == 1 ? parallel_for(std::size_t{0}, runs.size(), body, way.how, source.get_token())
                                    : parallel_for(std::size_t{0}, runs.size(), by, body, way.how, source.get_token());
        ASSERT_EQ(status, loop_status::stopped);
      });
      ASSERT_EQ(runs.runs(last), 1U);
      for (std::size_t i = 0; i < runs.size(); ++i) ASSERT_LE(runs.runs(i), i % step == 0 ? 1U : 0U) << i;
    }
  });
}

// Told by which iterations follow each other at once on one thread: a part on offer begins at a multiple of the grain.
TEST(parallel_for, takes_a_grain_as_a_number) {
  scheduler s({.workers = 3, .loop = "simple"});
  const int grain = 16;
  std::vector<int> thread_of(1000, -1);
  const auto begins = [&](int i) {
    return i == 0 || thread_of[static_cast<std::size_t>(i)] != thread_of[static_cast<std::size_t>(i) - 1];
  };
  for (int round = 0; round < 20; ++round) {
    const auto note = [&](int i) {
      thread_of[static_cast<std::size_t>(i)] = this_worker().index;
      linger(static_cast<std::size_t>(i));
    };
    s.run([&] { parallel_for(0, 1000, note, grain); });
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(i % grain == 0 || !begins(i)) << i;
    std::vector<int> numbers(1000);
    std::iota(numbers.begin(), numbers.end(), 0);
    s.run([&] { parallel_for(numbers, note, grain); });
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(i % grain == 0 || !begins(i)) << i;
  }
}

TEST(parallel_for, of_ranges_says_so_when_a_part_stops_it) {
  in_every_way([](scheduler& s, const named_way& way) {
    std::stop_source source;
    account runs(500);
    s.run([&] {
      const auto status = parallel_for(
          blocked_range<std::size_t>(0, runs.size()),
          [&](const blocked_range<std::size_t>& part) {
            for (std::size_t i = part.begin(); i != part.end(); ++i) runs.ran(i);
            source.request_stop();
          },
          way.how, source.get_token());
      ASSERT_EQ(status, loop_status::stopped);
      const auto of_others =
          parallel_for(uneven_range(0, 500), [](const uneven_range&) {}, way.how, source.get_token());
      ASSERT_EQ(of_others, loop_status::stopped);
    });
    for (std::size_t i = 0; i < runs.size(); ++i) ASSERT_LE(runs.runs(i), 1U) << i;
  });
}

TEST(parallel_for, that_would_not_end_today_ends_when_it_is_stopped) {
  // Each worker may finish the chunk that it runs, and these are short.
  for (const splitting how : {splitting{}, splitting(loop::lazy_depth{}), splitting(loop::lazy_depth2{}),
                              splitting(loop::lazy_breadth{}), splitting(loop::work_first{}), splitting(loop::simple{}),
                              splitting(loop::dynamic{}), splitting(loop::automatic{}), splitting(loop::fixed{})}) {
    SCOPED_TRACE(static_cast<int>(how.kind));
    in_and_outside([&] {
      std::stop_source source;
      std::atomic<std::uint64_t> runs = 0;
      const auto status = parallel_for(
          std::uint64_t{0}, std::uint64_t{1} << 50,
          [&](std::uint64_t) {
            if (++runs == 1000) source.request_stop();
          },
          how, source.get_token());
      EXPECT_EQ(status, loop_status::stopped);
      EXPECT_GE(runs, 1000U);
    });
  }
}

TEST(parallel_for, throws_what_an_iteration_throws_also_when_it_is_stopped) {
  in_every_way([](scheduler& s, const named_way& way) {
    std::stop_source source;
    const std::size_t thrown = thrown_by<tracked>([&] {
      s.run([&] {
        parallel_for(
            std::size_t{0}, std::size_t{100},
            [&](std::size_t i) {
              if (i != 0) return;
              source.request_stop();
              throw tracked(7);
            },
            way.how, source.get_token());
      });
    });
    ASSERT_EQ(thrown, 7U);
    ASSERT_EQ(tracked::alive, 0);
  });
}

}  // namespace
}  // namespace filch
