// What <filch/parallel_reduce.hpp> promises; above all the same bits everywhere.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <ranges>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filch/combinations.hpp>
#include <filch/parallel_reduce.hpp>

#include "loops.hpp"
#include "support.hpp"

namespace filch {
namespace {

using tests::account;
using tests::in_and_outside;
using tests::in_every_scheduler;
using tests::part_list;
using tests::tracked;
using tests::uneven_range;

// Around the sizes at which a tree or its leaves change: powers of two, and 2048 leaves.
constexpr std::array<std::size_t, 17> sizes{1, 2, 3, 7, 8, 9, 16, 17, 64, 65, 99, 100, 1000, 2047, 2048, 2049, 4097};
constexpr std::array<std::size_t, 5> grains{0, 1, 3, 64, 10'000};

// --- Values ---

TEST(parallel_reduce, sums_and_counts_the_initial_value_once) {
  in_every_scheduler([](scheduler& s) {
    for (const std::size_t n : sizes) {
      for (const std::size_t grain : grains) {
        account runs(n);
        const std::size_t sum = s.run([&] {
          return parallel_reduce(
              std::size_t{0}, n, std::size_t{1'000'000},
              [&](std::size_t i) {
                runs.ran(i);
                tests::linger(i);
                return i;
              },
              std::plus<>{}, grain);
        });
        ASSERT_EQ(sum, 1'000'000 + n * (n - 1) / 2) << "n " << n << ", grain " << grain;
        ASSERT_EQ(runs.first_not(1), n) << "grain " << grain;
      }
    }
  });
}

// Up to 32,768 items are leaves of their own, of which workers share several at a time; the last ones may be fewer.
TEST(parallel_reduce, combines_neighbours_however_many_leaves_workers_share) {
  struct interval {
    int first;
    int end;
  };
  in_every_scheduler([](scheduler& s) {
    for (const int n : {2'048, 2'049, 3'001, 4'097, 20'000, 32'767, 32'768, 32'769}) {
      std::atomic<int> apart{0};
      const interval all = s.run([&] {
        return parallel_reduce(
            0, n, interval{0, 0},
            [](int i) {
              tests::linger(static_cast<std::size_t>(i));
              return interval{i, i + 1};
            },
            [&](interval a, interval b) {
              if (a.end != b.first) ++apart;
              return interval{a.first, b.end};
            });
      });
      ASSERT_EQ(apart, 0) << n;
      ASSERT_EQ(all.first, 0) << n;
      ASSERT_EQ(all.end, n);
    }
  });
}

TEST(parallel_reduce, sums_on_any_thread_and_by_default) {
  in_and_outside([] {
    EXPECT_EQ(parallel_reduce(0, 10'000, 0L, [](int i) { return static_cast<long>(i); }), 49'995'000L);
    EXPECT_EQ(parallel_reduce(-10, 11, 0, std::identity{}), 0);
    EXPECT_EQ(parallel_reduce(1, 11, 1L, std::identity{}, std::multiplies<>{}), 3'628'800L);
    EXPECT_EQ(parallel_reduce(
                  0, 1000, -1, [](int i) { return i * 37 % 1000; }, [](int a, int b) { return std::max(a, b); }),
              999);
  });
}

TEST(parallel_reduce, returns_the_initial_value_when_there_is_nothing) {
  in_and_outside([] {
    const auto never = [](auto&&...) -> int {
      ADD_FAILURE() << "called for an empty loop";
      return 0;
    };
    EXPECT_EQ(parallel_reduce(0, 0, 42, never, never), 42);
    EXPECT_EQ(parallel_reduce(5, -5, 42, never, never, 3), 42);
    EXPECT_EQ(parallel_reduce(blocked_range<int>(3, 3), 42, never, never), 42);
    EXPECT_EQ(parallel_reduce(blocked_range2d<int>(0, 5, 3, 3), 42, never, never), 42);
    EXPECT_EQ(parallel_reduce(blocked_range3d<int>(0, 0, 0, 3, 0, 3), 42, never, never), 42);
    EXPECT_EQ(parallel_reduce(uneven_range(3, 3), 42, never, never), 42);
    const std::vector<int> none;
    EXPECT_EQ(parallel_reduce(none.begin(), none.end(), 42, never, never), 42);
  });
}

TEST(parallel_reduce, takes_iterators) {
  in_and_outside([] {
    std::deque<int> numbers(5000);
    std::iota(numbers.begin(), numbers.end(), 1);
    EXPECT_EQ(parallel_reduce(numbers.begin(), numbers.end(), 0, std::identity{}), 12'502'500);
    EXPECT_EQ(parallel_reduce(numbers.crbegin(), numbers.crend(), 0L, [](const int& i) { return 2L * i; }), 25'005'000);
    const std::vector<std::string> words{"so", " ", "it", " ", "goes"};
    EXPECT_EQ(parallel_reduce(words.data(), words.data() + words.size(), std::string(">"), std::identity{}),
              ">so it goes");
  });
}

TEST(parallel_reduce, takes_bounds_of_different_types_and_at_their_limits) {
  in_and_outside([] {
    EXPECT_EQ(parallel_reduce(0, std::size_t{1000}, std::size_t{0}, std::identity{}), 499'500U);
    EXPECT_EQ(parallel_reduce(std::int8_t{-128}, std::int8_t{127}, 0, [](std::int8_t i) { return int{i}; }), -255);
    constexpr auto most = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(parallel_reduce(most - 100, most, std::uint64_t{0}, [](std::uint64_t i) { return most - i; }), 5050U);
    constexpr auto least = std::numeric_limits<std::int64_t>::min();
    EXPECT_EQ(parallel_reduce(least, least + 100, std::int64_t{0}, [](std::int64_t i) { return i - least; }), 4950);
  });
}

/// Too large for more than a few of them on a stack, and not default constructible.
struct large_sum {
  explicit large_sum(std::uint64_t x) : parts{} { parts.fill(x); }
  large_sum(const large_sum& a, const large_sum& b) : parts(a.parts) {
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i] += b.parts[i];
  }
  std::array<std::uint64_t, 1 << 15> parts;
};

TEST(parallel_reduce, takes_values_that_are_large) {
  in_and_outside([] {
    const large_sum sum = parallel_reduce(
        std::uint64_t{0}, std::uint64_t{300}, large_sum(7), [](std::uint64_t i) { return large_sum(i); },
        [](const large_sum& a, const large_sum& b) { return large_sum(a, b); });
    EXPECT_THAT(sum.parts, testing::Each(7U + 300 * 299 / 2));
  });
}

// --- The same bits ---

/// Numbers whose sum depends on the order in which they are added.
std::vector<double> rough_numbers(std::size_t n) {
  std::vector<double> numbers(n);
  for (std::size_t i = 0; i < n; ++i) {
    numbers[i] = std::ldexp(1.0 / static_cast<double>(i + 1), static_cast<int>(i * 7 % 40)) * (i % 3 == 0 ? -1 : 1);
  }
  return numbers;
}

/// The sums of the numbers by every form of reduction, as bits.
std::vector<std::uint64_t> rough_sums(const std::vector<double>& numbers) {
  std::vector<std::uint64_t> bits;
  const auto note = [&](auto sum) { bits.push_back(std::bit_cast<std::uint64_t>(double{sum})); };
  for (const std::size_t n : sizes) {
    for (const std::size_t grain : grains) {
      note(parallel_reduce(std::size_t{0}, n, 0.5, [&](std::size_t i) { return numbers[i]; }, std::plus<>{}, grain));
      note(parallel_reduce(
          std::size_t{0}, n, 0.5F, [&](std::size_t i) { return static_cast<float>(numbers[i]); }, std::plus<>{},
          grain));
      note(parallel_reduce(
          blocked_range<std::size_t>(0, n, grain), 0.0,
          [&](const blocked_range<std::size_t>& part, double sum) {
            for (std::size_t i = part.begin(); i != part.end(); ++i) sum += numbers[i];
            return sum;
          },
          std::plus<>{}));
    }
    note(parallel_reduce(
        uneven_range(0, n, 5), 0.0,
        [&](const uneven_range& part, double sum) {
          for (std::size_t i = part.first(); i != part.last(); ++i) sum += numbers[i];
          return sum;
        },
        std::plus<>{}));
  }
  note(parallel_reduce(
      blocked_range2d<std::size_t>(0, 40, 3, 0, 50, 7), 0.0,
      [&](const blocked_range2d<std::size_t>& part, double sum) {
        for (std::size_t r = part.rows().begin(); r != part.rows().end(); ++r) {
          for (std::size_t c = part.cols().begin(); c != part.cols().end(); ++c) sum += numbers[r * 50 + c];
        }
        return sum;
      },
      std::plus<>{}));
  note(parallel_reduce(
      blocked_range3d<std::size_t>(0, 10, 0, 10, 0, 20), 0.0,
      [&](const blocked_range3d<std::size_t>& part, double sum) {
        for (std::size_t p = part.pages().begin(); p != part.pages().end(); ++p) {
          for (std::size_t r = part.rows().begin(); r != part.rows().end(); ++r) {
            for (std::size_t c = part.cols().begin(); c != part.cols().end(); ++c) {
              sum += numbers[(p * 10 + r) * 20 + c];
            }
          }
        }
        return sum;
      },
      std::plus<>{}));
  return bits;
}

TEST(parallel_reduce, has_the_same_bits_in_every_scheduler_and_every_run) {
  const std::vector<double> numbers = rough_numbers(sizes.back());
  // Or the rest would prove nothing.
  ASSERT_NE(std::accumulate(numbers.begin(), numbers.end(), 0.0),
            std::accumulate(numbers.rbegin(), numbers.rend(), 0.0));
  scheduler one({.workers = 1});
  const std::vector<std::uint64_t> expected = one.run([&] { return rough_sums(numbers); });
  EXPECT_EQ(rough_sums(numbers), expected) << "on a thread that is no worker";
  in_every_scheduler([&](scheduler& s) {
    for (int run = 0; run < 2; ++run) ASSERT_EQ(s.run([&] { return rough_sums(numbers); }), expected);
  });
}

TEST(parallel_reduce, has_the_same_bits_however_loops_are_split) {
  const std::vector<double> numbers = rough_numbers(sizes.back());
  scheduler one({.workers = 1});
  const std::vector<std::uint64_t> expected = one.run([&] { return rough_sums(numbers); });
  for (const tests::named_way& way : tests::ways_for("lace")) {
    if (way.how.kind == loop_kind::inherited) continue;
    for (const int workers : {1, 2, 3, 8}) {
      scheduler s({.workers = workers, .policy = "lace", .loop = std::string(name_of(way.how.kind))});
      tests::wake(s);
      ASSERT_EQ(s.run([&] { return rough_sums(numbers); }), expected) << way << ", " << workers << " workers";
    }
  }
}

TEST(parallel_reduce, has_the_same_bits_when_leaves_take_unequal_time) {
  const std::vector<double> numbers = rough_numbers(1000);
  const auto sum = [&] {
    return std::bit_cast<std::uint64_t>(parallel_reduce(std::size_t{0}, numbers.size(), 0.0, [&](std::size_t i) {
      tests::linger(i);
      return numbers[i];
    }));
  };
  scheduler one({.workers = 1});
  const std::uint64_t expected = one.run(sum);
  in_every_scheduler([&](scheduler& s) { ASSERT_EQ(s.run(sum), expected); });
}

TEST(parallel_reduce, has_the_same_bits_inside_of_loops_and_tasks) {
  const std::vector<double> numbers = rough_numbers(500);
  const auto sum = [&] {
    return std::bit_cast<std::uint64_t>(
        parallel_reduce(numbers.begin(), numbers.end(), 0.0, std::identity{}, std::plus<>{}, 3));
  };
  const std::uint64_t expected = sum();
  in_every_scheduler([&](scheduler& s) {
    s.run([&] {
      parallel_for(0, 20, [&](int) { EXPECT_EQ(sum(), expected); });
      const auto [a, b] = fork_join(sum, sum);
      EXPECT_EQ(a, expected);
      EXPECT_EQ(b, expected);
      task_group group;
      for (int i = 0; i < 5; ++i) group.run([&] { EXPECT_EQ(sum(), expected); });
      group.wait();
    });
  });
}

// --- Order ---

/// An interval of iterations: combining two that do not meet is an error.
struct stretch {
  std::uint64_t first;
  std::uint64_t last;

  static stretch join(const stretch& a, const stretch& b) {
    EXPECT_EQ(a.last, b.first);
    return {a.first, b.last};
  }
};

TEST(parallel_reduce, combines_neighbours_the_left_one_first) {
  in_every_scheduler([](scheduler& s) {
    s.run([] {
      for (const std::size_t n : sizes) {
        for (const std::size_t grain : grains) {
          const stretch all = parallel_reduce(
              std::uint64_t{0}, std::uint64_t{n}, stretch{0, 0}, [](std::uint64_t i) { return stretch{i, i + 1}; },
              &stretch::join, grain);
          ASSERT_TRUE(all.first == 0 && all.last == n) << "n " << n << ", grain " << grain;
        }
      }
    });
  });
}

TEST(parallel_reduce, keeps_the_order_of_strings) {
  std::string expected;
  for (int i = 0; i < 300; ++i) expected += std::to_string(i) + ' ';
  const auto word = [](std::size_t i) { return std::to_string(i) + ' '; };
  in_every_scheduler([&](scheduler& s) {
    s.run([&] {
      for (const std::size_t grain : grains) {
        const auto of_indices =
            parallel_reduce(std::size_t{0}, std::size_t{300}, std::string("> "), word, std::plus<>{}, grain);
        ASSERT_EQ(of_indices, "> " + expected) << grain;
        const auto of_range = parallel_reduce(
            blocked_range<std::size_t>(0, 300, grain), std::string(),
            [&](const blocked_range<std::size_t>& part, std::string text) {
              for (std::size_t i = part.begin(); i != part.end(); ++i) text += word(i);
              return text;
            },
            std::plus<>{});
        ASSERT_EQ(of_range, expected) << grain;
      }
      const auto of_others = parallel_reduce(
          uneven_range(0, 300, 4), std::string(),
          [&](const uneven_range& part, std::string text) {
            for (std::size_t i = part.first(); i != part.last(); ++i) text += word(i);
            return text;
          },
          std::plus<>{});
      ASSERT_EQ(of_others, expected);
    });
  });
}

// --- Parts of ranges ---

/// x -> a x + b, modulo 2^64: composing them is associative to the last bit, and the order matters.
struct affine_map {
  std::uint64_t a;
  std::uint64_t b;

  friend bool operator==(const affine_map&, const affine_map&) = default;
};

TEST(parallel_reduce, keeps_the_order_of_small_values) {
  const auto map = [](std::uint64_t i) { return affine_map{2 * i + 3, i * i + 1}; };
  const auto compose = [](affine_map first, affine_map second) {
    return affine_map{first.a * second.a, first.b * second.a + second.b};
  };
  in_every_scheduler([&](scheduler& s) {
    for (const std::size_t n : sizes) {
      affine_map expected{1, 0};
      for (std::uint64_t i = 0; i != n; ++i) expected = compose(expected, map(i));
      for (const std::size_t grain : grains) {
        const affine_map found = s.run(
            [&] { return parallel_reduce(std::uint64_t{0}, std::uint64_t{n}, affine_map{1, 0}, map, compose, grain); });
        ASSERT_EQ(found, expected) << "n " << n << ", grain " << grain;
      }
    }
  });
}

template <class T>
class reductions_of_integers : public testing::Test {};
using integers = testing::Types<std::int8_t, std::uint8_t, std::int16_t, int, unsigned, long, std::uint64_t>;
TYPED_TEST_SUITE(reductions_of_integers, integers);

// They are combined whole nodes at a time.
TYPED_TEST(reductions_of_integers, are_those_of_a_serial_loop) {
  using unsigned_type = std::make_unsigned_t<TypeParam>;
  const auto value = [](int i) { return static_cast<TypeParam>(static_cast<unsigned_type>(i % 3 - 1)); };
  const auto check = [&](scheduler& s, auto combine, TypeParam init) {
    for (const std::size_t n : sizes) {
      TypeParam expected = init;
      for (int i = 5; i != 5 + static_cast<int>(n); ++i) {
        expected = static_cast<TypeParam>(combine(expected, value(i)));
      }
      for (const std::size_t grain : grains) {
        const TypeParam found =
            s.run([&] { return parallel_reduce(5, 5 + static_cast<int>(n), init, value, combine, grain); });
        ASSERT_EQ(found, expected) << "n " << n << ", grain " << grain;
      }
    }
  };
  in_every_scheduler([&](scheduler& s) {
    check(s, std::plus<>(), TypeParam{7});
    check(s, std::bit_xor<TypeParam>(), TypeParam{0x55});
    check(s, std::bit_or<>(), TypeParam{8});
  });
}

TEST(parallel_reduce, sums_uneven_iterations_of_integers) {
  in_every_scheduler([](scheduler& s) {
    for (const int n : {50, 3000}) {
      const long sum = s.run([&] {
        return parallel_reduce(0, n, 0L, [](int i) {
          tests::linger(static_cast<std::size_t>(i) % 50 * 20);
          return static_cast<long>(i);
        });
      });
      ASSERT_EQ(sum, static_cast<long>(n) * (n - 1) / 2);
    }
  });
}

TEST(parallel_reduce, gives_parts_of_the_grain) {
  in_every_scheduler([](scheduler& s) {
    for (const std::uint64_t n : sizes) {
      for (const std::size_t grain : grains) {
        part_list parts;
        s.run([&] {
          parallel_reduce(
              blocked_range<std::uint64_t>(7, 7 + n, grain), 0,
              [&](const blocked_range<std::uint64_t>& part, int none) {
                parts.add(part.begin(), part.end());
                return none;
              },
              std::plus<>{});
        });
        ASSERT_TRUE(parts.are_all_of(7, 7 + n));
        const std::size_t size = grain != 0 ? grain : (n + 2047) / 2048;
        for (const auto& [first, last] : parts.sorted()) {
          if (last != 7 + n) {
            ASSERT_EQ(last - first, size) << "n " << n << ", grain " << grain;
          }
        }
      }
    }
  });
}

/// How often values were combined, and how often with more than one iteration on the right.
struct combinations {
  long all = 0;
  long of_many = 0;
};
/// A value of some iterations, of any size.
template <class Padding>
struct stretch_of {
  int iterations;
  Padding padding;
};

/// Reduces n iterations to a T. With one worker, as the tree is the same with any number.
template <class Padding>
combinations combinations_of(int n, std::size_t grain) {
  using value = stretch_of<Padding>;
  scheduler one({.workers = 1});
  combinations made;
  const auto combine = [&](const value& a, const value& b) {
    ++made.all;
    if (b.iterations > 1) ++made.of_many;
    return value{a.iterations + b.iterations, {}};
  };
  const value sum =
      one.run([&] { return parallel_reduce(0, n, value{}, [](int /*i*/) { return value{1, {}}; }, combine, grain); });
  EXPECT_EQ(sum.iterations, n);
  return made;
}
/// Parts that a blocked_range without a grain has.
template <class T>
std::size_t parts_of(std::uint64_t n) {
  part_list parts;
  parallel_reduce(
      blocked_range<std::uint64_t>(0, n), T{},
      [&](const blocked_range<std::uint64_t>& part, T none) {
        parts.add(part.begin(), part.end());
        return none;
      },
      [](T a, const T& /*b*/) { return a; });
  EXPECT_TRUE(parts.are_all_of(0, n));
  return parts.sorted().size();
}

TEST(parallel_reduce, combines_classes_from_left_to_right_within_a_leaf) {
  // The last one is that with the initial value.
  EXPECT_EQ(combinations_of<char>(1000, 1000).of_many, 1);
  EXPECT_EQ(combinations_of<double>(1000, 1000).of_many, 1);
  EXPECT_EQ(combinations_of<std::string>(1000, 1000).of_many, 1);
}

TEST(parallel_reduce, has_fewer_leaves_of_values_that_are_large_or_no_trivial_copies) {
  EXPECT_EQ(combinations_of<double>(40'960, 0).of_many, 2048);
  EXPECT_EQ(combinations_of<double>(5'000, 0).of_many, 2500);  // half of 5,000 leaves, and the initial value
  EXPECT_EQ(combinations_of<std::string>(40'960, 0).of_many, 128);
  EXPECT_EQ((combinations_of<std::array<double, 8>>(40'960, 0).of_many), 128);
  in_and_outside([] {
    EXPECT_EQ(parts_of<double>(40'960), 2048U);
    EXPECT_EQ((parts_of<std::pair<double, int>>(40'960)), 2048U);
    EXPECT_EQ((parts_of<std::array<double, 8>>(40'960)), 2048U);
    EXPECT_EQ((parts_of<std::array<double, 9>>(40'960)), 128U);
    EXPECT_EQ((parts_of<std::array<int, 256>>(40'960)), 128U);
    EXPECT_EQ(parts_of<std::vector<int>>(40'960), 128U);
    EXPECT_EQ(parts_of<std::vector<int>>(100), 100U);
    EXPECT_EQ(parts_of<std::vector<int>>(129), 65U);
  });
}

TEST(parallel_reduce, gives_each_part_the_identity_or_what_is_left_of_it) {
  // Each part adds one to what it is given. The identity is no zero here, but combining two values forgets one of it.
  in_and_outside([] {
    const auto parts = parallel_reduce(
        blocked_range<int>(0, 1000, 10), 50, [](const blocked_range<int>&, int sum) { return sum + 1; },
        [](int a, int b) { return a + b - 50; });
    EXPECT_EQ(parts, 150);
  });
}

TEST(parallel_reduce, covers_rectangles_and_cuboids_of_every_shape) {
  in_every_scheduler([](scheduler& s) {
    for (const auto& [pages, rows, columns] : std::vector<std::array<std::size_t, 3>>{
             {1, 1, 1}, {1, 1, 700}, {1, 700, 1}, {700, 1, 1}, {5, 6, 7}, {1, 40, 50}, {40, 1, 50}, {13, 80, 2}}) {
      account flat(rows * columns);
      account deep(pages * rows * columns);
      const auto rectangle = [&, width = columns](account& runs, std::size_t base, const auto& part) {
        for (std::size_t r = part.rows().begin(); r != part.rows().end(); ++r) {
          for (std::size_t c = part.cols().begin(); c != part.cols().end(); ++c) runs.ran(base + r * width + c);
        }
        return part.rows().size() * part.cols().size();
      };
      s.run([&, pages_ = pages, rows_ = rows, columns_ = columns] {
        const std::size_t area = parallel_reduce(
            blocked_range2d<std::size_t>(0, rows_, 0, columns_), std::size_t{0},
            [&](const blocked_range2d<std::size_t>& part, std::size_t sum) { return sum + rectangle(flat, 0, part); },
            std::plus<>{});
        ASSERT_EQ(area, flat.size());
        const std::size_t volume = parallel_reduce(
            blocked_range3d<std::size_t>(0, pages_, 0, rows_, 0, columns_), std::size_t{0},
            [&](const blocked_range3d<std::size_t>& part, std::size_t sum) {
              for (std::size_t p = part.pages().begin(); p != part.pages().end(); ++p) {
                sum += rectangle(deep, p * rows_ * columns_, part);
              }
              return sum;
            },
            std::plus<>{});
        ASSERT_EQ(volume, deep.size());
      });
      ASSERT_EQ(flat.first_not(1), flat.size());
      ASSERT_EQ(deep.first_not(1), deep.size());
    }
  });
}

TEST(parallel_reduce, covers_any_other_range) {
  in_every_scheduler([](scheduler& s) {
    account runs(1000);
    const std::size_t sum = s.run([&] {
      return parallel_reduce(
          uneven_range(0, runs.size(), 2), std::size_t{0},
          [&](const uneven_range& part, std::size_t before) {
            EXPECT_FALSE(part.is_divisible());
            for (std::size_t i = part.first(); i != part.last(); ++i) runs.ran(i);
            return before + part.size();
          },
          std::plus<>{});
    });
    ASSERT_EQ(sum, runs.size());
    ASSERT_EQ(runs.first_not(1), runs.size());
  });
}

// As those of a blocked_range, they lie on the heap: on the stack the values of all halves that are open would overflow it.
TEST(parallel_reduce, covers_any_other_range_with_values_that_are_large) {
  using block = std::array<std::size_t, std::size_t{1} << 17>;
  const auto zero = std::make_unique<block>();
  const auto add = [](const block& to, std::size_t what) {
    block sum = to;
    sum.back() += what;
    return sum;
  };
  scheduler s(2);
  const auto sum = std::make_unique<block>(s.run([&] {
    return parallel_reduce(
        uneven_range(0, 200, 2), *zero,
        [&](const uneven_range& part, const block& before) { return add(before, part.size()); },
        [&](const block& a, const block& b) { return add(a, b.back()); });
  }));
  EXPECT_EQ(sum->back(), 200U);
}

TEST(parallel_reduce, runs_ranges_far_beyond_32_bits) {
  in_every_scheduler([](scheduler& s) {
    constexpr std::uint64_t n = (std::uint64_t{1} << 40) + 5;
    const std::uint64_t sum = s.run([] {
      return parallel_reduce(
          blocked_range<std::uint64_t>(3, 3 + n), std::uint64_t{0},
          [](const blocked_range<std::uint64_t>& part, std::uint64_t before) { return before + part.size(); },
          std::plus<>{});
    });
    ASSERT_EQ(sum, n);
  });
}

TEST(parallel_reduce, runs_the_largest_range_there_is) {
  using limits = std::numeric_limits<std::int64_t>;
  const auto sum = parallel_reduce(
      blocked_range<std::int64_t>(limits::min(), limits::max()), std::uint64_t{0},
      [](const blocked_range<std::int64_t>& part, std::uint64_t before) { return before + part.size(); },
      std::plus<>{});
  EXPECT_EQ(sum, std::numeric_limits<std::uint64_t>::max());
}

// --- Types ---

/// No default constructor, no assignment from numbers, and no `+`.
class sealed {
 public:
  explicit sealed(long value) : value_(value) {}
  [[nodiscard]] long value() const { return value_; }

 private:
  long value_;
};

TEST(parallel_reduce, takes_types_without_default_constructor) {
  const auto add = [](const sealed& a, const sealed& b) { return sealed(a.value() + b.value()); };
  in_and_outside([&] {
    const sealed of_indices = parallel_reduce(0L, 3000L, sealed(1), [](long i) { return sealed(i); }, add);
    EXPECT_EQ(of_indices.value(), 1 + 3000 * 2999 / 2);
    const sealed of_range = parallel_reduce(
        blocked_range<long>(0, 3000), sealed(0),
        [](const blocked_range<long>& part, sealed sum) {
          for (long i = part.begin(); i != part.end(); ++i) sum = sealed(sum.value() + i);
          return sum;
        },
        add);
    EXPECT_EQ(of_range.value(), 3000 * 2999 / 2);
    const sealed of_others = parallel_reduce(
        uneven_range(0, 3000), sealed(0),
        [](const uneven_range& part, const sealed& sum) {
          return sealed(sum.value() + static_cast<long>(part.first()));
        },
        add);
    EXPECT_EQ(of_others.value(), 3000 * 2999 / 2);
  });
}

TEST(parallel_reduce, takes_vectors) {
  const auto append = [](std::vector<std::size_t> a, const std::vector<std::size_t>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  std::vector<std::size_t> expected(2000);
  std::iota(expected.begin(), expected.end(), 0);
  in_every_scheduler([&](scheduler& s) {
    s.run([&] {
      const auto of_indices = parallel_reduce(
          std::size_t{0}, expected.size(), std::vector<std::size_t>(), [](std::size_t i) { return std::vector{i}; },
          append, 10);
      ASSERT_EQ(of_indices, expected);
      const auto of_range = parallel_reduce(
          blocked_range<std::size_t>(0, expected.size(), 7), std::vector<std::size_t>(),
          [](const blocked_range<std::size_t>& part, std::vector<std::size_t> numbers) {
            for (std::size_t i = part.begin(); i != part.end(); ++i) numbers.push_back(i);
            return numbers;
          },
          append);
      ASSERT_EQ(of_range, expected);
    });
  });
}

TEST(parallel_reduce, leaves_no_value_behind) {
  const auto add = [](const tracked& a, const tracked& b) { return tracked(a.value() + b.value()); };
  in_every_scheduler([&](scheduler& s) {
    s.run([&] {
      for (const std::size_t n : {0, 1, 10, 3000}) {
        const tracked sum =
            parallel_reduce(std::size_t{0}, n, tracked(3), [](std::size_t i) { return tracked(i); }, add);
        ASSERT_EQ(sum.value(), 3 + n * (n - 1) / 2);
        ASSERT_EQ(tracked::alive, 1);
      }
    });
    ASSERT_EQ(tracked::alive, 0);
  });
}

TEST(parallel_reduce, takes_function_pointers_and_constant_functors) {
  in_and_outside([] {
    struct {
      long operator()(long i) const { return 2 * i; }
    } const twice;
    long (*const add)(long, long) = [](long a, long b) { return a + b; };
    EXPECT_EQ(parallel_reduce(0L, 1000L, 0L, twice, add), 999'000);
    long (*const same)(long) = [](long i) { return i; };
    EXPECT_EQ(parallel_reduce(0L, 1000L, 0L, same, add), 499'500);
  });
}

// --- Nesting ---

TEST(parallel_reduce, nests) {
  in_every_scheduler([](scheduler& s) {
    const long sum = s.run([] {
      return parallel_reduce(0L, 20L, 0L, [](long i) {
        return parallel_reduce(0L, 20L, 0L, [i](long j) {
          return parallel_reduce(0L, 20L, 0L, [i, j](long k) { return (i * 20 + j) * 20 + k; });
        });
      });
    });
    ASSERT_EQ(sum, 8000L * 7999 / 2);
  });
}

TEST(parallel_reduce, contains_loops_forks_and_groups) {
  in_every_scheduler([](scheduler& s) {
    account runs(60 * 12);
    const std::size_t sum = s.run([&] {
      return parallel_reduce(std::size_t{0}, std::size_t{60}, std::size_t{0}, [&](std::size_t i) {
        const std::size_t base = i * 12;
        parallel_for(base, base + 4, [&](std::size_t k) { runs.ran(k); });
        fork_join([&] { parallel_for(base + 4, base + 6, [&](std::size_t k) { runs.ran(k); }); },
                  [&] { parallel_for(base + 6, base + 8, [&](std::size_t k) { runs.ran(k); }); });
        task_group group;
        for (std::size_t k = base + 8; k != base + 12; ++k) group.run([&runs, k] { runs.ran(k); });
        group.wait();
        return i;
      });
    });
    ASSERT_EQ(sum, 60U * 59 / 2);
    ASSERT_EQ(runs.first_not(1), runs.size());
  });
}

TEST(parallel_reduce, runs_from_two_threads_at_once) {
  const auto sums = [] {
    for (int round = 0; round < 10; ++round) {
      EXPECT_EQ(parallel_reduce(0, 2000, 0L, [](int i) { return static_cast<long>(i); }), 1'999'000);
    }
  };
  const auto on_two_threads = [](const auto& body) {
    std::thread first(body);
    std::thread second(body);
    first.join();
    second.join();
  };
  on_two_threads(sums);
  in_every_scheduler([&](scheduler& s) { on_two_threads([&] { s.run(sums); }); });
}

// --- Exceptions ---

/// What a reduction threw.
template <class Reduction>
std::size_t thrown_by(Reduction reduction) {
  try {
    reduction();
  } catch (const tracked& thrown) {
    return thrown.value();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ~std::size_t{0};
}

TEST(parallel_reduce, throws_what_the_leftmost_part_throws) {
  const auto add = [](const tracked& a, const tracked& b) { return tracked(a.value() + b.value()); };
  in_every_scheduler([&](scheduler& s) {
    for (const std::size_t grain : {0, 1, 5, 1000}) {
      for (const std::size_t first : {0, 3, 500, 999}) {
        account runs(1000);
        const auto value = [&](std::size_t i) {
          runs.ran(i);
          tests::linger(i);
          if (i >= first && i % 50 == first % 50) throw tracked(i);
          return tracked(i);
        };
        const std::size_t of_indices = thrown_by(
            [&] { s.run([&] { parallel_reduce(std::size_t{0}, runs.size(), tracked(0), value, add, grain); }); });
        ASSERT_EQ(of_indices, first) << grain;
        tests::expect_ran_up_to(runs, first);
        const std::size_t of_range = thrown_by([&] {
          s.run([&] {
            parallel_reduce(
                blocked_range<std::size_t>(0, runs.size(), grain), tracked(0),
                [&](const blocked_range<std::size_t>& part, tracked sum) {
                  for (std::size_t i = part.begin(); i != part.end(); ++i) sum = add(sum, value(i));
                  return sum;
                },
                add);
          });
        });
        ASSERT_EQ(of_range, first) << grain;
        ASSERT_EQ(tracked::alive, 0);
      }
    }
    const std::size_t of_others = thrown_by([&] {
      s.run([&] {
        parallel_reduce(
            uneven_range(0, 1000, 3), tracked(0),
            [](const uneven_range& part, tracked sum) {
              if (part.last() > 300 && part.last() % 2 == 0) throw tracked(part.last());
              return sum;
            },
            add);
      });
    });
    // The parts are the same in every scheduler, and the leftmost of them that throws is.
    static const std::size_t in_the_first = of_others;
    ASSERT_EQ(of_others, in_the_first);
    ASSERT_EQ(tracked::alive, 0);
  });
}

TEST(parallel_reduce, throws_what_combining_throws) {
  in_every_scheduler([](scheduler& s) {
    const std::size_t thrown = thrown_by([&] {
      s.run([&] {
        parallel_reduce(
            std::size_t{0}, std::size_t{1000}, tracked(0), [](std::size_t i) { return tracked(i); },
            [](const tracked& a, const tracked& b) {
              if (b.value() == 777) throw tracked(777);
              return tracked(std::max(a.value(), b.value()));
            });
      });
    });
    ASSERT_EQ(thrown, 777U);
    ASSERT_EQ(tracked::alive, 0);
  });
}

/// Each copy may fail, which is also how it moves.
struct fragile {
  static inline std::atomic<long> alive{0};
  static inline std::atomic<long> copies_left{0};

  explicit fragile(long of) : value(of) { ++alive; }
  fragile(const fragile& other) : value(other.value) {
    if (copies_left-- == 0) throw std::runtime_error("copy");
    ++alive;
  }
  fragile& operator=(const fragile& other) = default;
  ~fragile() { --alive; }

  long value;
};

TEST(parallel_reduce, loses_no_value_when_one_cannot_be_moved) {
  for (const int workers : {1, 2}) {
    scheduler s({.workers = workers});
    s.run([&] {
      for (const int n : {2, 3, 100}) {
        bool threw = true;
        for (long copies = 0; threw; ++copies) {
          threw = false;
          fragile::copies_left = copies;
          try {
            const fragile sum = parallel_reduce(
                0, n, fragile(0), [](int i) { return fragile(i); },
                [](const fragile& a, const fragile& b) { return fragile(a.value + b.value); });
            EXPECT_EQ(sum.value, n * (n - 1) / 2);
          } catch (const std::runtime_error&) {
            threw = true;
          }
          ASSERT_EQ(fragile::alive, 0) << n << " items, after " << copies << " copies";
        }
      }
    });
  }
}

TEST(parallel_reduce, throws_through_loops_and_reductions_around_it) {
  in_every_scheduler([](scheduler& s) {
    const std::size_t thrown = thrown_by([&] {
      s.run([&] {
        parallel_for(std::size_t{0}, std::size_t{20}, [](std::size_t i) {
          parallel_reduce(std::size_t{0}, std::size_t{20}, std::size_t{0}, [i](std::size_t j) {
            return parallel_reduce(std::size_t{0}, std::size_t{20}, std::size_t{0}, [i, j](std::size_t k) {
              const std::size_t number = (i * 20 + j) * 20 + k;
              if (number >= 4242 && number % 7 == 0) throw tracked(number);
              return number;
            });
          });
        });
      });
    });
    ASSERT_EQ(thrown, 4242U);
    ASSERT_EQ(tracked::alive, 0);
  });
}

TEST(parallel_reduce, can_be_used_again_after_an_exception) {
  in_every_scheduler([](scheduler& s) {
    for (int round = 0; round < 3; ++round) {
      const auto fails = [](int i) {
        if (i % 100 == 50) throw std::runtime_error("iteration");
        return i;
      };
      ASSERT_THROW(s.run([&] { return parallel_reduce(0, 1000, 0, fails); }), std::runtime_error);
      ASSERT_EQ(s.run([] { return parallel_reduce(0, 1000, 0, std::identity{}); }), 499'500);
    }
  });
}

/// What the items were, in order; it can only be moved.
template <std::size_t Size>
struct only_moved {
  std::unique_ptr<std::vector<std::size_t>> numbers = std::make_unique<std::vector<std::size_t>>();
  std::array<std::byte, Size> rest{};

  explicit only_moved(std::size_t i) { numbers->push_back(i); }
  static only_moved both(only_moved a, only_moved b) {
    a.numbers->insert(a.numbers->end(), b.numbers->begin(), b.numbers->end());
    return a;
  }
};

template <class T>
void combine_what_is_only_moved() {
  in_every_scheduler([](scheduler& s) {
    for (const std::size_t n : sizes) {
      const T all = s.run(
          [&] { return parallel_reduce(std::size_t{1}, n + 1, T(0), [](std::size_t i) { return T(i); }, T::both); });
      std::vector<std::size_t> expected(n + 1);
      std::iota(expected.begin(), expected.end(), std::size_t{0});
      ASSERT_EQ(*all.numbers, expected);
    }
    ASSERT_EQ(parallel_reduce(0, 0, T(7), [](int) { return T(0); }, T::both).numbers->front(), 7U);
  });
}

TEST(parallel_reduce, takes_values_that_can_only_be_moved) {
  combine_what_is_only_moved<only_moved<8>>();
  combine_what_is_only_moved<only_moved<1000>>();  // kept in boxes
}

TEST(parallel_reduce, of_the_items_themselves) {
  const std::vector<double> values{0.5, 1, 2};
  EXPECT_EQ(parallel_reduce(values, 1.0), 4.5);
  EXPECT_EQ(parallel_reduce(values.begin(), values.end(), 0.0), 3.5);
  EXPECT_EQ(parallel_reduce(0, 5, 0L), 10);
}

}  // namespace
}  // namespace filch
