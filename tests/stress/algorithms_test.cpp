// Sorts, scans and reductions from two threads at once, inside of loops and of each other, under every policy and join.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "everywhere.hpp"
#include "support.hpp"

namespace filch {
namespace {

class algorithms : public testing::TestWithParam<tests::configuration> {};

std::vector<unsigned> numbers(std::size_t n, unsigned seed) {
  std::vector<unsigned> all(n);
  for (std::size_t i = 0; i != n; ++i) all[i] = (static_cast<unsigned>(i) + seed) * 2654435761U >> 12;
  return all;
}

void sort_and_scan(std::size_t n, unsigned seed) {
  const auto original = numbers(n, seed);
  auto expected = original;
  std::sort(expected.begin(), expected.end());
  auto quick = original;
  auto merged = original;
  parallel_invoke([&] { parallel_sort(quick.begin(), quick.end()); },
                  [&] { parallel_stable_sort(merged.begin(), merged.end()); });
  EXPECT_EQ(quick, expected);
  EXPECT_EQ(merged, expected);

  auto sums = original;
  parallel_inclusive_scan(original.begin(), original.end(), sums.begin(), std::plus<>(), 0U, 50);
  std::partial_sum(original.begin(), original.end(), expected.begin());
  EXPECT_EQ(sums, expected);
  const auto product = [&] {
    return parallel_transform_reduce(original.begin(), original.end(), tests::affine{}, std::multiplies<>(),
                                     tests::affine::number, 10);
  };
  tests::affine in_order;
  for (const unsigned i : original) in_order = in_order * tests::affine::number(i);
  EXPECT_EQ(product(), in_order);
}

TEST_P(algorithms, nested_in_loops) {
  scheduler s(GetParam().options());
  s.run([] { parallel_for(0U, 12U, [](unsigned i) { sort_and_scan(300 + 200 * i, i); }); });
}

TEST_P(algorithms, from_two_threads_at_once) {
  scheduler s(GetParam().options());
  const auto work = [&s](unsigned seed) {
    for (unsigned round = 0; round != 2; ++round) s.run([=] { sort_and_scan(5000, seed + round); });
  };
  std::thread other([&] { work(1); });
  work(100);
  other.join();
}

TEST_P(algorithms, a_loop_inside_of_a_comparison) {
  scheduler s(GetParam().options());
  auto values = numbers(150, 3);
  s.run([&] {
    parallel_stable_sort(values.begin(), values.end(), [](unsigned a, unsigned b) {
      const auto value = [](unsigned bit) { return 1U << bit; };
      const auto of = [&](unsigned x) {
        return parallel_reduce(0U, 32U, 0U, [&](unsigned bit) { return x & value(bit); });
      };
      return of(a) < of(b);
    });
  });
  EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
}

TEST_P(algorithms, exceptions_leave_everything_in_order) {
  scheduler s(GetParam().options());
  auto values = numbers(3000, 9);
  auto expected = values;
  std::sort(expected.begin(), expected.end());
  for (int round = 0; round != 5; ++round) {
    const auto failing = [&] {
      parallel_stable_sort(values.begin(), values.end(), [&](unsigned a, unsigned b) {
        if (a == expected[1700] || b == expected[1700]) throw round;
        return a < b;
      });
    };
    EXPECT_THROW(s.run(failing), int);
  }
  s.run([&] { parallel_sort(values.begin(), values.end()); });
  EXPECT_EQ(values, expected);
}

INSTANTIATE_TEST_SUITE_P(stress, algorithms, testing::ValuesIn(tests::configurations({1, 2, 4})), tests::name_of);

}  // namespace
}  // namespace filch
