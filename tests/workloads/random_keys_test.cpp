// The numbers that sorting workloads sort.
#include "random_keys.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include <gtest/gtest.h>

namespace filch::bench {
namespace {

std::vector<std::uint64_t> keys_of(key_kind kind, std::uint64_t count, std::uint64_t seed) {
  random_keys keys(kind, count, seed);
  std::vector<std::uint64_t> all(count);
  for (std::uint64_t& each : all) each = keys.next();
  return all;
}

// How often each number comes, the commonest first.
std::vector<std::size_t> frequencies(const std::vector<std::uint64_t>& keys) {
  std::map<std::uint64_t, std::size_t> counts;
  for (const std::uint64_t key : keys) ++counts[key];
  std::vector<std::size_t> all;
  for (const auto& [key, count] : counts) all.push_back(count);
  std::sort(all.rbegin(), all.rend());
  return all;
}

TEST(random_keys, differ) { EXPECT_EQ(frequencies(keys_of(key_kind::random, 10'000, 1)).size(), 10'000U); }

// Of 2^14 numbers, 15 classes: one number of the first, two of the second, ...
TEST(random_keys, that_are_exponential_are_often_equal) {
  constexpr std::uint64_t count = 1 << 14;
  const std::vector<std::size_t> counts = frequencies(keys_of(key_kind::exponential, count, 1));
  EXPECT_NEAR(static_cast<double>(counts[0]), count / 15.0, 120);
  EXPECT_NEAR(static_cast<double>(counts[1] + counts[2]), count / 15.0, 120);
  EXPECT_LT(counts.size(), count / 2);
  EXPECT_GT(counts.size(), count / 8);
}

TEST(random_keys, depend_on_their_seed_alone) {
  for (const key_kind kind : {key_kind::random, key_kind::exponential}) {
    EXPECT_EQ(keys_of(kind, 100, 1), keys_of(kind, 100, 1));
    EXPECT_NE(keys_of(kind, 100, 1), keys_of(kind, 100, 2));
  }
}

}  // namespace
}  // namespace filch::bench
