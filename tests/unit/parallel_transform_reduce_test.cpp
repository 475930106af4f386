#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <numeric>
#include <ranges>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <filch/parallel_transform_reduce.hpp>

#include "everywhere.hpp"

namespace filch {
namespace {

std::vector<std::size_t> sizes() { return {0, 1, 2, 3, 7, 8, 9, 100, 2047, 2048, 2049, 4095, 4096, 4097, 10'000}; }

TEST(parallel_transform_reduce, keeps_the_order_of_what_does_not_commute) {
  for (const std::size_t n : sizes()) {
    std::vector<std::size_t> numbers(n);
    std::iota(numbers.begin(), numbers.end(), std::size_t{1});
    tests::affine expected{5, 7};
    for (const std::size_t i : numbers) expected = expected * tests::affine::number(i);
    for (const std::size_t grain : {0, 1, 3, 5000}) {
      const auto product = [&] {
        return parallel_transform_reduce(numbers.cbegin(), numbers.cend(), tests::affine{5, 7}, std::multiplies<>(),
                                         tests::affine::number, grain);
      };
      const auto equal = [&](const auto& a, const auto& b) { EXPECT_EQ(a, b) << n << " by " << grain; };
      EXPECT_EQ(tests::same_everywhere(product, equal), expected) << n << " by " << grain;
    }
  }
}

TEST(parallel_transform_reduce, concatenates_strings) {
  const std::deque<int> digits{1, 2, 3, 4, 5, 6, 7, 8, 9};
  const auto text = parallel_transform_reduce(digits.begin(), digits.end(), std::string("0"), std::plus<>(),
                                              [](int i) { return std::to_string(i); });
  EXPECT_EQ(text, "0123456789");
}

TEST(parallel_transform_reduce, of_two_ranges_is_the_inner_product_by_default) {
  for (const std::size_t n : sizes()) {
    std::vector<int> a(n);
    std::deque<long> b(n);
    std::iota(a.begin(), a.end(), 1);
    std::iota(b.begin(), b.end(), -50L);
    const long expected = std::inner_product(a.begin(), a.end(), b.begin(), 17L);
    EXPECT_EQ(parallel_transform_reduce(a.data(), a.data() + n, b.cbegin(), 17L), expected);
    EXPECT_EQ(parallel_transform_reduce(a.cbegin(), a.cend(), b.begin(), 17L, std::plus<>(), std::multiplies<>(), 10),
              expected);
    const long difference = parallel_transform_reduce(a.begin(), a.end(), b.begin(), 0L, std::plus<>(), std::minus<>());
    EXPECT_EQ(difference, std::accumulate(a.begin(), a.end(), 0L) - std::accumulate(b.begin(), b.end(), 0L));
  }
}

// The differences of such iterators are no integers.
TEST(parallel_transform_reduce, takes_iterators_of_wide_counts) {
  const auto numbers = std::views::iota(0L, 1000L);
  EXPECT_EQ(parallel_transform_reduce(numbers.begin(), numbers.end(), numbers.begin(), 0L), 332'833'500);
}

TEST(parallel_transform_reduce, has_the_same_bits_everywhere) {
  std::vector<double> values(30'011);
  for (std::size_t i = 0; i != values.size(); ++i) values[i] = 1.0 / static_cast<double>(3 * i + 1);
  const auto sum_of_squares = [&] {
    return std::bit_cast<std::uint64_t>(
        parallel_transform_reduce(values.begin(), values.end(), 0.1, std::plus<>(), [](double x) { return x * x; }));
  };
  const auto product = [&] {
    return std::bit_cast<std::uint64_t>(parallel_transform_reduce(values.begin(), values.end(), values.rbegin(), 0.1));
  };
  const auto equal = [](std::uint64_t a, std::uint64_t b) { EXPECT_EQ(a, b); };
  for (int run = 0; run != 3; ++run) {
    tests::same_everywhere(sum_of_squares, equal);
    tests::same_everywhere(product, equal);
  }
}

TEST(parallel_transform_reduce, an_exception_at_any_place_leaves_nothing_behind) {
  std::vector<long> values(97);
  std::iota(values.begin(), values.end(), 0L);
  const auto add = [](const tests::counted& a, const tests::counted& b) { return tests::counted(a.value + b.value); };
  for (const auto& pool : tests::all_schedulers()) {
    for (const long bad : values) {
      const auto transform = [bad](long i) {
        if (i >= bad) throw std::out_of_range(std::to_string(i));
        return tests::counted(i);
      };
      try {
        pool->run([&] {
          return parallel_transform_reduce(values.begin(), values.end(), tests::counted(0), add, transform).value;
        });
        FAIL() << "nothing was thrown";
      } catch (const std::out_of_range& thrown) {
        EXPECT_EQ(thrown.what(), std::to_string(bad));
      }
      ASSERT_EQ(tests::counted::alive, 0);
    }
  }
}

TEST(parallel_transform_reduce, takes_containers_arrays_and_views) {
  const std::vector<int> values{1, 2, 3, 4};
  const long more[] = {10, 20, 30, 40, 50};
  const auto square = [](int x) { return x * x; };
  EXPECT_EQ(parallel_transform_reduce(values, 100L, std::plus<>(), square), 130);
  EXPECT_EQ(parallel_transform_reduce(std::views::iota(1, 5), 100L, std::plus<>(), square, 2), 130);
  EXPECT_EQ(parallel_transform_reduce(values, more, 1L), 301);
  EXPECT_EQ(parallel_transform_reduce(values, more, 1L, std::plus<>(), std::plus<>()), 111);
  EXPECT_EQ(parallel_transform_reduce(
                std::begin(more), std::end(more), values.begin() - 1 + 1, 0L, std::plus<>(),
                [](long a, int /*b*/) { return a; }, 1),
            150);
  // What it begins with may be a container as well.
  const auto append = [](std::vector<int> a, const std::vector<int>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  const std::vector<int> begin{0};
  EXPECT_EQ(parallel_transform_reduce(values, begin, append, [](int x) { return std::vector<int>{x}; }),
            (std::vector<int>{0, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace filch
