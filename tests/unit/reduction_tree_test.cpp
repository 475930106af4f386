// White-box tests of the tree of reductions: whoever makes which interval, and in whatever order they come, leaves are
// combined in one way.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <filch/detail/reduction_tree.hpp>
#include <filch/parallel_reduce.hpp>
#include <filch/scheduler.hpp>

namespace filch::detail {
namespace {

/// A value that shows how it was combined, too large to be kept in rows.
struct bracketed {
  static std::string leaf(std::uint64_t i) { return std::to_string(i); }
  static std::string combine(const std::string& a, const std::string& b) {
    std::string both;
    both.append(1, '(').append(a).append(1, ' ').append(b).append(1, ')');
    return both;
  }
};

/// A value that differs with the way it was combined, small enough to be kept in rows.
struct mixed {
  static std::uint64_t leaf(std::uint64_t i) { return i * 0x9e3779b97f4a7c15 + 1; }
  static std::uint64_t combine(std::uint64_t a, std::uint64_t b) { return std::rotl(a, 7) * 31 + (b ^ (a >> 9)); }
};

/// The same, too large for a stack.
struct mixed_and_large {
  struct value {
    std::uint64_t mixed;
    std::array<std::byte, 2 * most_on_stack> rest;
    bool operator==(const value& other) const { return mixed == other.mixed; }
  };
  static value leaf(std::uint64_t i) { return {mixed::leaf(i), {}}; }
  static value combine(const value& a, const value& b) { return {mixed::combine(a.mixed, b.mixed), {}}; }
};

/// The tree as it is defined: the largest power of two below m is on the left.
template <class Kind>
auto defined(std::uint64_t first, std::uint64_t m) -> decltype(Kind::leaf(first)) {
  if (m == 1) return Kind::leaf(first);
  const std::uint64_t left = std::bit_floor(m - 1);
  auto a = defined<Kind>(first, left);
  return Kind::combine(std::move(a), defined<Kind>(first + left, m - left));
}

/// The same from intervals of nodes of 2^shift leaves, each computed partly by single nodes and partly by chunks.
template <class Kind>
auto from_intervals(std::uint64_t leaves, unsigned shift,
                    const std::vector<std::pair<std::uint64_t, std::uint64_t>>& intervals, std::mt19937_64& random) {
  using value = decltype(Kind::leaf(0));
  const auto combine = [](value a, value b) { return Kind::combine(std::move(a), std::move(b)); };
  const auto leaf = [](std::uint64_t i) { return Kind::leaf(i); };
  scheduler one({.workers = 1});
  return one.run([&] {
    reduction_result<value> result(leaves, shift);
    const reduction_block<value, decltype(leaf), decltype(combine)> block{leaf, combine, result};
    for (const auto& [low, high] : intervals) {
      typename reduction_block<value, decltype(leaf), decltype(combine)>::values values;
      block.begin(low, values);
      std::uint64_t at = 0;
      for (std::uint64_t i = low; i != high;) {
        const std::uint64_t end = random() % 2 == 0 ? i + 1 : i + 1 + random() % (high - i);
        block.run(i, end, at, values);
        i = end;
      }
      block.end(high, values);
    }
    return result.take();
  });
}

template <class Kind>
void expect_one_tree() {
  std::mt19937_64 random(2014);
  for (std::uint64_t leaves = 1; leaves <= 300; leaves += leaves < 70 ? 1 : 23) {
    const auto expected = defined<Kind>(0, leaves);
    for (int run = 0; run < 20; ++run) {
      const auto shift = static_cast<unsigned>(random() % 4);
      const std::uint64_t nodes = ((leaves - 1) >> shift) + 1;
      std::vector<std::uint64_t> ends{0, nodes};
      for (std::uint64_t cuts = random() % 12; cuts != 0; --cuts) ends.push_back(random() % (nodes + 1));
      std::sort(ends.begin(), ends.end());
      std::vector<std::pair<std::uint64_t, std::uint64_t>> intervals;
      for (std::size_t i = 1; i < ends.size(); ++i) {
        if (ends[i - 1] != ends[i]) intervals.emplace_back(ends[i - 1], ends[i]);
      }
      std::shuffle(intervals.begin(), intervals.end(), random);
      ASSERT_EQ(from_intervals<Kind>(leaves, shift, intervals, random), expected) << leaves << " leaves, run " << run;
    }
  }
}

TEST(reduction_tree, is_the_same_for_all_intervals) { expect_one_tree<bracketed>(); }

TEST(reduction_tree, is_the_same_for_all_intervals_of_small_values) { expect_one_tree<mixed>(); }

/// Also the part of it below what workers share.
template <class Kind>
void expect_one_tree_of_many_leaves() {
  using value = decltype(Kind::leaf(0));
  const auto combine = [](value a, value b) { return Kind::combine(std::move(a), std::move(b)); };
  const auto make_leaf = [] { return [](std::uint64_t i) { return Kind::leaf(i); }; };
  scheduler two({.workers = 2});
  for (const std::uint64_t leaves : {1, 2047, 2048, 2049, 4095, 4096, 4097, 7777, 32'769, 65'536, 70'001}) {
    const auto found = two.run([&] { return reduce_leaves<value>(leaves, make_leaf, combine, nullptr); });
    ASSERT_EQ(found, defined<Kind>(0, leaves)) << leaves << " leaves";
  }
}

TEST(reduction_tree, is_the_same_for_many_leaves) { expect_one_tree_of_many_leaves<bracketed>(); }

TEST(reduction_tree, is_the_same_for_many_leaves_of_small_values) { expect_one_tree_of_many_leaves<mixed>(); }

TEST(reduction_tree, is_the_same_for_many_leaves_of_large_values) { expect_one_tree_of_many_leaves<mixed_and_large>(); }

TEST(reduction_tree, gives_up_the_values_of_a_node_that_fails) {
  // More leaves than are shared, so that one worker has several values of a node (AddressSanitizer looks).
  const auto make_leaf = [] {
    return [](std::uint64_t i) {
      if (i == 70'001) throw std::runtime_error("one");
      return std::string(100, 'x');
    };
  };
  const auto combine = [](std::string a, const std::string& /*b*/) { return a; };
  scheduler two({.workers = 2});
  EXPECT_THROW(two.run([&] { return reduce_leaves<std::string>(100'000, make_leaf, combine, nullptr); }),
               std::runtime_error);
}

TEST(reduction_tree, names_nodes_by_their_largest) {
  EXPECT_EQ(node_of(4, 6, 8).size, 2U);
  EXPECT_EQ(node_of(4, 7, 7).size, 4U);  // with nothing behind it, it is all that its parent has
  EXPECT_EQ(node_of(6, 7, 7).size, 2U);
  EXPECT_TRUE(node_of(0, 7, 7).is_root(7));
  EXPECT_FALSE(node_of(0, 4, 7).is_root(7));
  EXPECT_EQ(node_of(0, 4, 7).middle_of_parent(), 4U);
  EXPECT_EQ(node_of(4, 7, 7).middle_of_parent(), 4U);
  EXPECT_EQ(node_of(2, 4, 7).middle_of_parent(), 2U);
  EXPECT_EQ(node_of(4, 6, 7).middle_of_parent(), 6U);
}

TEST(reduction_tree, gives_up_values_that_nobody_fetches) {
  // One interval throws, the values of another one stay behind: no leak (AddressSanitizer looks).
  scheduler one({.workers = 1});
  one.run([] {
    reduction_result<std::string> result(4, 0);
    const auto leaf = [](std::uint64_t i) {
      if (i == 1) throw std::runtime_error("one");
      return std::string(100, 'x');
    };
    const auto combine = [](std::string a, const std::string& b) { return a + b; };
    const reduction_block<std::string, decltype(leaf), decltype(combine)> block{leaf, combine, result};
    std::uint64_t at = 0;
    {
      open_values<std::string> values;
      block.begin(2, values);
      block.run(2, 4, at, values);
      block.end(4, values);
    }
    open_values<std::string> values;
    block.begin(0, values);
    EXPECT_THROW(block.run(0, 2, at, values), std::runtime_error);
  });
}

}  // namespace
}  // namespace filch::detail
