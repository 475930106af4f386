#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <numeric>
#include <ranges>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filch/parallel_scan.hpp>

#include "everywhere.hpp"
#include "support.hpp"

namespace filch {
namespace {

/// Around the sizes at which blocks are added: 4096 in one piece, then blocks of 512, four in a row.
std::vector<std::size_t> sizes() { return {0, 1, 2, 3, 511, 513, 4095, 4096, 4097, 4608, 4609, 5121, 10'000, 40'960}; }

std::vector<unsigned> numbers(std::size_t n) {
  std::vector<unsigned> all(n);
  for (std::size_t i = 0; i != n; ++i) all[i] = static_cast<unsigned>(i * 2654435761U % 1'000'003U);
  return all;
}
std::vector<tests::affine> maps(std::size_t n) {
  std::vector<tests::affine> all(n);
  for (std::size_t i = 0; i != n; ++i) all[i] = tests::affine::number(i);
  return all;
}

TEST(parallel_inclusive_scan, is_that_of_the_standard_library) {
  for (const std::size_t n : sizes()) {
    const auto in = numbers(n);
    std::vector<unsigned> expected(n);
    std::inclusive_scan(in.begin(), in.end(), expected.begin());
    for (const auto& pool : tests::all_schedulers()) {
      pool->run([&] {
        std::vector<unsigned> out(n);
        EXPECT_EQ(parallel_inclusive_scan(in.begin(), in.end(), out.begin()), out.end());
        EXPECT_EQ(out, expected) << n;
        auto in_place = in;
        EXPECT_EQ(parallel_inclusive_scan(in_place.data(), in_place.data() + n, in_place.data()), in_place.data() + n);
        EXPECT_EQ(in_place, expected) << n;
      });
    }
  }
}

// Of more than 4096 elements four blocks are scanned side by side; of few with a grain each alone, so that each may be another
// worker's. On one worker that is seen in the order of the elements.
TEST(parallel_inclusive_scan, scans_few_elements_in_blocks_of_the_grain) {
  scheduler one({.workers = 1});
  const auto steps_back = [&](std::size_t n, const auto& scan) {
    std::vector<std::size_t> in(n);
    std::iota(in.begin(), in.end(), std::size_t{1});
    std::vector<std::size_t> out(n);
    std::size_t last = 0;
    int back = 0;
    const auto add = [&](std::size_t sum, std::size_t element) {
      if (element < last) ++back;
      last = element;
      return sum + element;
    };
    one.run([&] { scan(in, out, add); });
    EXPECT_EQ(out.back(), n * (n + 1) / 2);
    return back;
  };
  const auto with_init = [](const auto& in, auto& out, const auto& add) {
    parallel_inclusive_scan(in.begin(), in.end(), out.begin(), add, std::size_t{0}, 40);
  };
  const auto without_init = [](const auto& in, auto& out, const auto& add) {
    parallel_inclusive_scan(in.begin(), in.end(), out.begin(), add, scan_grain{40});
  };
  const auto of_range = [](const auto& in, auto& out, const auto& add) {
    parallel_inclusive_scan(in, out.begin(), add, scan_grain{40});
  };
  const auto without_grain = [](const auto& in, auto& out, const auto& add) {
    parallel_inclusive_scan(in, out.begin(), add);
  };
  EXPECT_EQ(steps_back(400, without_grain), 0) << "one pass";
  // Where the sums of blocks are added up, and where the second pass begins.
  EXPECT_LE(steps_back(400, with_init), 10);
  EXPECT_GT(steps_back(400, with_init), 0);
  EXPECT_EQ(steps_back(400, without_init), steps_back(400, with_init));
  EXPECT_EQ(steps_back(400, of_range), steps_back(400, with_init));
  EXPECT_GT(steps_back(5000, without_init), 1000);
}

TEST(parallel_inclusive_scan, keeps_the_order_of_what_does_not_commute) {
  for (const std::size_t n : sizes()) {
    const auto in = maps(n);
    std::vector<tests::affine> expected(n);
    std::vector<tests::affine> out(n);
    std::inclusive_scan(in.begin(), in.end(), expected.begin(), std::multiplies<>());
    parallel_inclusive_scan(in.begin(), in.end(), out.begin(), std::multiplies<>());
    EXPECT_EQ(out, expected) << n;
    std::inclusive_scan(in.begin(), in.end(), expected.begin(), std::multiplies<>(), tests::affine{3, 4});
    for (const std::size_t grain : {0, 1, 7, 100, 50'000}) {
      std::deque<tests::affine> queue(n);
      parallel_inclusive_scan(in.begin(), in.end(), queue.begin(), std::multiplies<>(), tests::affine{3, 4}, grain);
      EXPECT_TRUE(std::equal(queue.begin(), queue.end(), expected.begin(), expected.end())) << n << " by " << grain;
    }
  }
}

TEST(parallel_exclusive_scan, is_that_of_the_standard_library) {
  for (const std::size_t n : sizes()) {
    const auto in = maps(n);
    std::vector<tests::affine> expected(n);
    std::exclusive_scan(in.begin(), in.end(), expected.begin(), tests::affine{3, 4}, std::multiplies<>());
    for (const auto& pool : tests::all_schedulers()) {
      pool->run([&] {
        std::vector<tests::affine> out(n);
        EXPECT_EQ(parallel_exclusive_scan(in.begin(), in.end(), out.begin(), tests::affine{3, 4}, std::multiplies<>()),
                  out.end());
        EXPECT_EQ(out, expected) << n;
        auto in_place = in;
        parallel_exclusive_scan(in_place.begin(), in_place.end(), in_place.begin(), tests::affine{3, 4},
                                std::multiplies<>(), 37);
        EXPECT_EQ(in_place, expected) << n;
      });
    }
  }
}

TEST(parallel_exclusive_scan, adds_in_the_type_of_init) {
  const std::vector<unsigned char> in(5000, 200);
  std::vector<std::uint64_t> out(in.size());
  parallel_exclusive_scan(in.begin(), in.end(), out.begin(), std::uint64_t{1} << 40);
  for (std::size_t i = 0; i != in.size(); ++i) ASSERT_EQ(out[i], (std::uint64_t{1} << 40) + 200 * i);
}

TEST(parallel_scans, have_the_same_bits_everywhere) {
  std::vector<double> in(30'011);
  for (std::size_t i = 0; i != in.size(); ++i) in[i] = 1.0 / static_cast<double>(3 * i + 1);
  const auto bits = [](const std::vector<double>& values) {
    std::vector<std::uint64_t> all;
    for (const double x : values) all.push_back(std::bit_cast<std::uint64_t>(x));
    return all;
  };
  const auto inclusive = [&] {
    std::vector<double> out(in.size());
    parallel_inclusive_scan(in.begin(), in.end(), out.begin());
    return bits(out);
  };
  const auto exclusive = [&] {
    auto out = in;
    parallel_exclusive_scan(out.begin(), out.end(), out.begin(), 0.1);
    return bits(out);
  };
  const auto equal = [](const auto& a, const auto& b) { EXPECT_EQ(a, b); };
  tests::same_everywhere(inclusive, equal);
  tests::same_everywhere(exclusive, equal);
}

TEST(parallel_scans, need_no_default_constructor_and_leave_nothing_behind_when_the_operation_throws) {
  constexpr long n = 60;
  const auto below = [](long limit) {
    return [limit](const tests::counted& a, const tests::counted& b) {
      if (a.value + b.value >= limit) throw limit;
      return tests::counted(a.value + b.value);
    };
  };
  for (const auto& pool : tests::all_schedulers()) {
    for (long limit = 2; limit <= n + 2; ++limit) {
      pool->run([&] {
        const std::vector<tests::counted> ones(n, tests::counted(1));
        std::vector<tests::counted> out(n, tests::counted(0));
        const auto inclusive = [&] {
          parallel_inclusive_scan(ones.begin(), ones.end(), out.begin(), below(limit), tests::counted(1), 4);
        };
        const auto exclusive = [&] {
          parallel_exclusive_scan(ones.begin(), ones.end(), out.begin(), tests::counted(1), below(limit), 4);
        };
        if (limit <= n + 1) {
          EXPECT_THROW(inclusive(), long);
        } else {
          inclusive();
          EXPECT_EQ(out.back().value, n + 1);
        }
        if (limit <= n) {
          EXPECT_THROW(exclusive(), long);
        } else if (limit == n + 2) {  // between them, only the last element is too much, and it belongs to no result
          exclusive();
          EXPECT_EQ(out.back().value, n);
        }
        EXPECT_EQ(tests::counted::alive, 2 * n);
      });
      ASSERT_EQ(tests::counted::alive, 0);
    }
  }
}

TEST(parallel_scan, visits_each_part_finally_once_with_the_sum_of_what_is_before) {
  for (const std::size_t n : {1U, 9U, 10U, 11U, 95U, 1000U, 4096U, 5000U}) {
    for (const std::size_t grain : {0U, 1U, 10U, 2000U}) {
      for (const auto& pool : tests::all_schedulers()) {
        tests::account finals(n);
        const auto body = [&](const blocked_range<std::size_t>& part, std::size_t sum, bool is_final) {
          for (std::size_t i = part.begin(); i != part.end(); ++i) {
            if (is_final) {
              EXPECT_EQ(sum, i * (i + 1) / 2);
              finals.ran(i);
            }
            sum += i + 1;
          }
          return sum;
        };
        const auto total = pool->run([&] {
          return parallel_scan(blocked_range<std::size_t>(0, n, grain), std::size_t{0}, body, std::plus<>());
        });
        EXPECT_EQ(total, n * (n + 1) / 2);
        EXPECT_EQ(finals.first_not(1), n);
      }
    }
  }
}

TEST(parallel_scan, of_nothing_is_the_identity) {
  const auto body = [](const auto& /*part*/, int /*sum*/, bool /*is_final*/) -> int { throw 1; };
  EXPECT_EQ(parallel_scan(blocked_range<int>(3, 3), 42, body, std::plus<>()), 42);
}

/// A range that is known by its own operations alone, and cannot be assigned.
struct thirds {
  const int begin_;
  int end_;
  thirds(int begin, int end) : begin_(begin), end_(end) {}
  thirds(thirds& from, split /*second*/) : begin_(from.begin_ + (from.end_ - from.begin_ + 2) / 3), end_(from.end_) {
    from.end_ = begin_;
  }
  [[nodiscard]] bool empty() const { return begin_ == end_; }
  [[nodiscard]] bool is_divisible() const { return end_ - begin_ > 2; }
};

TEST(parallel_scan, of_any_range_keeps_the_order) {
  for (const int n : {1, 2, 3, 50}) {
    std::string expected;
    for (int i = 0; i != n; ++i) expected += std::to_string(i) + ",";
    const auto concatenated = [n] {
      return parallel_scan(
          thirds(0, n), std::string(),
          [](const thirds& part, std::string sum, bool /*is_final*/) {
            for (int i = part.begin_; i != part.end_; ++i) sum += std::to_string(i) + ",";
            return sum;
          },
          std::plus<>());
    };
    EXPECT_EQ(tests::same_everywhere(concatenated, [](const auto& a, const auto& b) { EXPECT_EQ(a, b); }), expected);
  }
}

TEST(parallel_scan, an_exception_in_any_part_leaves_nothing_behind) {
  constexpr int n = 20;
  for (const auto& pool : tests::all_schedulers()) {
    for (int bad = 0; bad != n; ++bad) {
      for (const bool bad_final : {false, true}) {
        const auto body = [&](const blocked_range<int>& part, tests::counted sum, bool is_final) {
          if (part.begin() == bad && (is_final || !bad_final)) throw bad;
          return tests::counted(sum.value + 1);
        };
        const auto add = [](const tests::counted& a, const tests::counted& b) {
          return tests::counted(a.value + b.value);
        };
        const auto scan = [&] { parallel_scan(blocked_range<int>(0, n, 1), tests::counted(0), body, add); };
        EXPECT_THROW(pool->run(scan), int);
        ASSERT_EQ(tests::counted::alive, 0);
      }
    }
  }
}

TEST(parallel_scan, takes_containers_arrays_and_views) {
  int values[] = {1, 2, 3, 4};
  std::vector<int> sums(4);
  EXPECT_EQ(parallel_inclusive_scan(values, sums.begin()), sums.end());
  EXPECT_EQ(sums, (std::vector<int>{1, 3, 6, 10}));
  parallel_inclusive_scan(std::views::iota(1, 5), sums.begin(), std::multiplies<>(), 2);
  EXPECT_EQ(sums, (std::vector<int>{2, 4, 12, 48}));
  parallel_exclusive_scan(std::vector<int>(values, values + 4), sums.data(), 5);
  EXPECT_EQ(sums, (std::vector<int>{5, 6, 8, 11}));
  // Two pointers are the ends of a range, whatever the first one points to.
  parallel_inclusive_scan(values, values + 4, sums.data());
  EXPECT_EQ(sums, (std::vector<int>{1, 3, 6, 10}));
  parallel_exclusive_scan(values, values + 4, values, 0);
  EXPECT_THAT(values, testing::ElementsAre(0, 1, 3, 6));
}

}  // namespace
}  // namespace filch
