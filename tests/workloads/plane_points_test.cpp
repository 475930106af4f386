// Points in the plane, and the serial convex hull against which the workload's is checked.
#include "plane_points.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace filch::bench {
namespace {

using list = std::vector<point>;

TEST(plane_points, are_on_the_left_where_side_is_positive) {
  EXPECT_GT(side({0, 0}, {1, 0}, {5, 1}), 0);
  EXPECT_LT(side({0, 0}, {1, 0}, {5, -1}), 0);
  EXPECT_EQ(side({0, 0}, {1, 1}, {5, 5}), 0);
  // The smallest and the largest that there are.
  constexpr std::int32_t far = 1 << 24;
  EXPECT_EQ(side({-far, -far}, {far, far}, {far, far - 1}), -2 * far);
  EXPECT_EQ(side({-far, -far}, {far, -far}, {-far, far}), std::int64_t{4} * far * far);
}

TEST(plane_points, hull_has_corners_only) {
  // A square with points in it, on its edges, and corners twice.
  const list all = {{2, 2}, {0, 0}, {1, 1}, {2, 0}, {1, 0}, {0, 2}, {0, 1}, {2, 1}, {1, 2}, {0, 0}, {2, 2}};
  EXPECT_EQ(serial_hull(all), (list{{0, 0}, {0, 2}, {2, 2}, {2, 0}}));
  EXPECT_EQ(serial_hull({{3, 3}, {1, 1}, {2, 2}}), (list{{1, 1}, {3, 3}}));
  EXPECT_EQ(serial_hull({{1, 2}, {1, 5}, {1, 3}}), (list{{1, 2}, {1, 5}}));
  EXPECT_EQ(serial_hull({{4, 5}, {4, 5}}), (list{{4, 5}}));
}

TEST(plane_points, hull_has_all_points_on_its_right) {
  const list all = random_points(point_kind::uniform, 2000, 1);
  const list hull = serial_hull(all);
  ASSERT_GE(hull.size(), 10U);
  for (std::size_t i = 0; i < hull.size(); ++i) {
    const point& from = hull[i];
    const point& to = hull[(i + 1) % hull.size()];
    for (const point& each : all) EXPECT_LE(side(from, to, each), 0);
    EXPECT_LT(side(from, to, hull[(i + 2) % hull.size()]), 0);
    EXPECT_NE(std::find(all.begin(), all.end(), from), all.end());
  }
}

TEST(plane_points, are_in_range) {
  constexpr double largest = 1 << 24;
  for (const point_kind kind : {point_kind::uniform, point_kind::plummer}) {
    for (const point& each : random_points(kind, 5000, 3)) {
      EXPECT_LE(std::hypot(each.x, each.y), largest + 1);
    }
  }
}

// How many are nearer to the centre than this part of the greatest distance.
double share_within(const list& all, double part) {
  const auto is_near = [&](const point& each) { return std::hypot(each.x, each.y) < part * (1 << 24); };
  return static_cast<double>(std::count_if(all.begin(), all.end(), is_near)) / static_cast<double>(all.size());
}

TEST(plane_points, are_spread_as_they_should_be) {
  const list uniform = random_points(point_kind::uniform, 20'000, 3);
  EXPECT_NEAR(share_within(uniform, 0.5), 0.25, 0.02);
  // Of a Plummer model seen from afar the part r^2 / (1 + r^2) is within r; of 999 in 1000 the farthest is at 38.7.
  const list plummer = random_points(point_kind::plummer, 20'000, 3);
  EXPECT_NEAR(share_within(plummer, 1 / 38.7), 0.5, 0.02);
  EXPECT_NEAR(share_within(plummer, 3 / 38.7), 0.9, 0.02);
  EXPECT_LT(serial_hull(plummer).size(), serial_hull(uniform).size());
}

TEST(plane_points, depend_on_their_seed_alone) {
  for (const point_kind kind : {point_kind::uniform, point_kind::plummer}) {
    EXPECT_EQ(random_points(kind, 100, 1), random_points(kind, 100, 1));
    EXPECT_NE(random_points(kind, 100, 1), random_points(kind, 100, 2));
  }
}

}  // namespace
}  // namespace filch::bench
