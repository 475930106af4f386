// The parts of heat2d: temperatures against the definition, hints that are wrong by what was asked for, and the map of
// tiles.
#include "heat2d.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filch/filch.hpp>

namespace filch::bench {
namespace {

// With a border of zeros on all sides.
using square = std::vector<std::vector<float>>;

square copy_of(const heat_region& region, int buffer) {
  const auto n = static_cast<std::size_t>(region.size());
  square copy(n + 2, std::vector<float>(n + 2));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) copy[i + 1][j + 1] = region.row(buffer, static_cast<int>(i))[j];
  }
  return copy;
}

square stepped(const square& from) {
  square to(from.size(), std::vector<float>(from.size()));
  for (std::size_t i = 1; i + 1 < from.size(); ++i) {
    for (std::size_t j = 1; j + 1 < from.size(); ++j) {
      to[i][j] = 0.2F * ((((from[i][j] + from[i][j - 1]) + from[i][j + 1]) + from[i - 1][j]) + from[i + 1][j]);
    }
  }
  return to;
}

TEST(heat2d, steps_are_those_of_the_definition) {
  heat_region region(128);
  region.begin(0, 128, 0, 128);
  square expected = copy_of(region, 0);
  EXPECT_GT(std::set<float>(expected[5].begin(), expected[5].end()).size(), 50U);  // no two places look alike
  for (const int to : {1, 0, 1}) {
    expected = stepped(expected);
    for (const int row : {64, 0}) {
      for (const int column : {64, 0}) region.step(to, row, 64, column, 64);
    }
    EXPECT_EQ(copy_of(region, to), expected);
  }
}

TEST(heat2d, rows_are_padded_by_a_line_and_aligned) {
  const heat_region region(1024);
  EXPECT_EQ(region.row(0, 1) - region.row(0, 0), 1024 + 16);
  for (const int row : {-1, 0, 1, 1024}) {
    for (const int buffer : {0, 1}) EXPECT_EQ(reinterpret_cast<std::uintptr_t>(region.row(buffer, row)) % 64, 0U);
  }
}

TEST(heat2d, one_wrong_bit_is_noticed) {
  heat_region a(64);
  heat_region b(64);
  a.begin(0, 64, 0, 64);
  b.begin(0, 64, 0, 64);
  EXPECT_TRUE(is_same(a, 0, b, 0));
  b.row(0, 63)[63] += 0.0001F;
  EXPECT_FALSE(is_same(a, 0, b, 0));
}

TEST(heat2d, right_hints_are_cells) {
  EXPECT_EQ(heat_hints(parse_heat("256"), 3, {0, 0, 4}), (std::array<double, 4>{16384, 16384, 16384, 16384}));
  EXPECT_EQ(heat_hints(parse_heat("256/wrong=0"), 3, {2, 0, 2}), (std::array<double, 4>{4096, 4096, 4096, 4096}));
}

// The ratio of section 5.4 of the paper.
TEST(heat2d, wrong_hints_are_in_the_ratio_of_the_paper) {
  const auto hints = heat_hints(parse_heat("128/wrong=10"), 0, {0, 0, 2});
  const std::array<double, 4> expected{0.9 * 4096, 0.95 * 4096, 1.05 * 4096, 1.1 * 4096};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(hints[i], expected[i], 1e-9);
  for (const double hint : heat_hints(parse_heat("128/wrong=100"), 0, {0, 0, 2})) EXPECT_GT(hint, 0);
}

TEST(heat2d, random_hints_fill_their_interval_and_are_drawn_anew) {
  const heat_options options = parse_heat("2048/random_wrong=40");
  std::vector<double> drawn;
  for (int iteration = 0; iteration < 50; ++iteration) {
    for (const heat_part part : {heat_part{0, 0, 2}, heat_part{0, 2, 2}, heat_part{2, 0, 2}}) {
      const auto hints = heat_hints(options, iteration, part);
      EXPECT_EQ(hints, heat_hints(options, iteration, part));
      for (const double hint : hints) drawn.push_back(hint / 4096);
    }
  }
  EXPECT_EQ(std::set<double>(drawn.begin(), drawn.end()).size(), drawn.size());
  const auto [least, most] = std::minmax_element(drawn.begin(), drawn.end());
  EXPECT_GE(*least, 0.6);
  EXPECT_LE(*most, 1.4);
  // Each in vain once in 10^13.
  EXPECT_LT(*least, 0.64);
  EXPECT_GT(*most, 1.36);
  double sum = 0;
  for (const double each : drawn) sum += each;
  EXPECT_NEAR(sum / static_cast<double>(drawn.size()), 1, 0.06);  // six standard deviations
}

TEST(heat2d, map_counts_tiles_that_changed_worker) {
  tile_map map(2, 4, true);
  map.clear();
  const std::uintptr_t workers[4][4] = {{70, 70, 30, 30}, {70, 30, 30, 30}, {70, 30, 50, 30}, {70, 30, 30, 30}};
  for (std::uint32_t iteration = 0; iteration < 4; ++iteration) {
    for (std::uint32_t i = 0; i < 4; ++i) map.record(iteration, i / 2, i % 2, workers[iteration][i], 2);
  }
  EXPECT_EQ(map.moves(), 2U);  // not the one of iteration 1
  EXPECT_THAT(map.workers(), testing::ElementsAre(2, 2, 0, 0, 2, 0, 0, 0, 2, 0, 1, 0, 2, 0, 0, 0));
  std::ostringstream text;
  map.write(text);
  EXPECT_THAT(text.str(), testing::StartsWith("iteration,row,column,worker\n0,0,0,2\n0,0,1,2\n0,1,0,0\n"));
  EXPECT_THAT(text.str(), testing::EndsWith("\n3,1,1,0\n"));
  map.clear();
  EXPECT_EQ(map.moves(), 0U);
}

// Without stealing placement is exact: tiles never move, and equal hints give each of four workers a quarter.
TEST(heat2d, map_shows_places_without_stealing) {
  heat2d_instance heat(parse_heat("256/iterations=8/map"));
  scheduler pool({.workers = 4, .policy = "adws_nosteal"});
  heat.prepare();
  pool.run([&] {
    heat.begin(runner::filch);
    heat.run(runner::filch);
  });
  EXPECT_TRUE(heat.verify());
  EXPECT_EQ(heat.moved_share(), 0);
  const std::vector<std::uint32_t> workers = heat.map().workers();
  ASSERT_EQ(workers.size(), 8U * 16);
  std::set<std::uint32_t> first_of_quarters;
  for (std::size_t i = 0; i < 16; ++i) {
    const std::size_t first = i / 8 * 8 + i % 4 / 2 * 2;  // of its quarter
    EXPECT_EQ(workers[i], workers[first]) << i;
    first_of_quarters.insert(workers[first]);
  }
  EXPECT_EQ(first_of_quarters.size(), 4U);
}

}  // namespace
}  // namespace filch::bench
