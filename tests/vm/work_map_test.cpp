// Maps of schedules: that they name the workers that did the work, and that ADWS maps neighbours to neighbours (Shiina and
// Taura 2019, Figure 1).
#include "work_map.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <filch/filch.hpp>
#include <filch/vm.hpp>
#include <filch/vm/simulation.hpp>

#include "drawing.hpp"
#include "simulated_run.hpp"
#include "workload.hpp"

namespace filch::bench {
namespace {

constexpr int workers = 7;

vm::machine_description machine() { return vm::load_machine("4x2", MACHINES_FOLDER); }

work_map map_of(const std::string& size, const std::string& policy, int seed = 1) {
  const auto sph = std::ranges::find(workloads(), "sph", &workload::name);
  const std::unique_ptr<instance> made = sph->make(size);
  EXPECT_TRUE(made->record_map());
  const cli::run_outcome outcome =
      cli::run_simulated(machine(), static_cast<std::uint64_t>(seed),
                         {.runner = runner::filch, .workers = workers, .policy = policy}, *made);
  EXPECT_TRUE(outcome.is_right) << outcome.error.data();
  return made->recorded_map();
}

// Tiles come in the order of the tree. How often the next one is another worker's.
std::ptrdiff_t changes(const work_map& map) {
  const auto& tiles = map.tiles;
  return std::ranges::count_if(
      tiles, [&](const mapped_tile& each) { return &each != &tiles.back() && (&each)[1].worker != each.worker; });
}

TEST(work_map, adws_maps_neighbours_to_neighbours) {
  for (const std::string loop : {"", "/loop"}) {
    const work_map map = map_of("2d/1000/iterations=6" + loop, "adws_nosteal");
    // The first children get the left of the line, where numbers are high.
    EXPECT_TRUE(std::ranges::is_sorted(map.tiles, std::greater{}, &mapped_tile::worker));
    EXPECT_EQ(changes(map), workers - 1);
    EXPECT_EQ(map.points.size(), 1000U);
  }
  // By chance a single map may have few; of 41 seeds they had 13 to 22.
  constexpr int seeds = 4;
  std::ptrdiff_t at_random = 0;
  for (int seed = 1; seed <= seeds; ++seed) at_random += changes(map_of("2d/1000/iterations=6", "lace", seed));
  EXPECT_GT(at_random, seeds * 2 * (workers - 1));
}

TEST(work_map, tiles_do_not_overlap) {
  const work_map map = map_of("2d/300/iterations=6", "adws");
  double area = 0;
  for (const mapped_tile& a : map.tiles) {
    area += double{a.width} * a.height;
    EXPECT_GE(a.worker, 0);
    EXPECT_LT(a.worker, workers);
    for (const mapped_tile& b : map.tiles) {
      if (&a == &b) continue;
      const bool apart = a.x + a.width <= b.x + 1e-4F || b.x + b.width <= a.x + 1e-4F ||
                         a.y + a.height <= b.y + 1e-4F || b.y + b.height <= a.y + 1e-4F;
      EXPECT_TRUE(apart);
    }
  }
  EXPECT_GT(area, 2);  // that of the column of water
}

TEST(work_map, colours_go_from_blue_to_red) {
  const auto same = [](const cli::colour& a, double red, double green, double blue) {
    return a.red == red && a.green == green && a.blue == blue;
  };
  EXPECT_TRUE(same(cli::scale_colour(0, 65), 0, 0, 1));
  EXPECT_TRUE(same(cli::scale_colour(32, 65), 0, 1, 0));
  EXPECT_TRUE(same(cli::scale_colour(64, 65), 1, 0, 0));
  EXPECT_TRUE(same(cli::scale_colour(0, 1), 0, 0, 1));
}

}  // namespace
}  // namespace filch::bench
