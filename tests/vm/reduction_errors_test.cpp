// Which exception of a reduction arrives. Times are virtual, and differ from round to round.
#include <cstdint>

#include <gtest/gtest.h>

#include <filch/filch.hpp>
#include <filch/platform/work.hpp>

#include "run_on.hpp"

namespace filch::vm {
namespace {

struct of_body {};
struct of_combination {};

/// Of a reduction of 512 items whose item 383 throws, and the combination of the 128 after it as well.
template <class Found>
void reduce(std::uint64_t round, Found& found) {
  constexpr int thrower = 383;
  struct interval {
    int first;
    int last;
  };
  const auto item = [&](int i) {
    const std::uint64_t mixed = (static_cast<std::uint64_t>(i) + 512 * round) * 0x9E3779B97F4A7C15;
    platform::charge(static_cast<double>(2000 + (mixed >> 32) % 12'000));
    if (i == thrower) throw of_body();
    return interval{i, i + 1};
  };
  const auto join = [&](interval a, interval b) {
    if (a.first == thrower + 1 && b.last == 512) throw of_combination();
    return interval{a.first, b.last};
  };
  try {
    parallel_reduce(0, 512, interval{-1, -1}, item, join);
  } catch (of_body) {
    ++found.body;
  } catch (of_combination) {
    ++found.combination;
  }
}

TEST(reduction_errors, what_items_throw_comes_before_what_combining_later_ones_does) {
  for (const int workers : {2, 3, 5}) {
    struct {
      int body = 0;
      int combination = 0;
    } found;
    constexpr int rounds = 1000;
    run_on(workers, "standard", [&](scheduler&) {
      for (std::uint64_t round = 0; round != rounds; ++round) reduce(round, found);
    });
    EXPECT_EQ(found.body, rounds) << workers;
    EXPECT_EQ(found.combination, 0) << workers;
  }
}

}  // namespace
}  // namespace filch::vm
