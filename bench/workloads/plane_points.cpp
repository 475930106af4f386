#include "plane_points.hpp"

#include <algorithm>
#include <cmath>

#include "random.hpp"

namespace filch::bench {
namespace {

constexpr double largest = 1 << 24;

double signed_real(random_numbers& numbers) { return 2 * numbers.next_real() - 1; }

point rounded(double x, double y) {
  return {static_cast<std::int32_t>(std::lround(x * largest)), static_cast<std::int32_t>(std::lround(y * largest))};
}

point in_disk(random_numbers& numbers) {
  for (;;) {
    const double x = signed_real(numbers);
    const double y = signed_real(numbers);
    if (x * x + y * y <= 1) return rounded(x, y);
  }
}

// A random distance from the centre in a random direction, without its third coordinate. As is usual, the farthest
// stars are left out: one in a thousand.
point in_cluster(random_numbers& numbers) {
  constexpr double mass = 0.999;
  const double farthest = 1 / std::sqrt(std::pow(mass, -2.0 / 3) - 1);
  double inside = 0;
  while (inside == 0) inside = mass * numbers.next_real();
  const double distance = 1 / std::sqrt(std::pow(inside, -2.0 / 3) - 1);
  for (;;) {
    const double x = signed_real(numbers);
    const double y = signed_real(numbers);
    const double z = signed_real(numbers);
    const double square = x * x + y * y + z * z;
    if (square > 1 || square == 0) continue;
    const double scale = distance / (farthest * std::sqrt(square));
    return rounded(x * scale, y * scale);
  }
}

// Adds the corners on the way from first to last, where it turns right. The last one is left for the way back.
template <class Iterator>
void add_chain(Iterator first, const Iterator& last, std::vector<point>& hull) {
  const std::size_t begin = hull.size();
  for (; first != last; ++first) {
    while (hull.size() >= begin + 2 && side(hull[hull.size() - 2], hull.back(), *first) >= 0) hull.pop_back();
    hull.push_back(*first);
  }
  hull.pop_back();
}

}  // namespace

std::vector<point> random_points(point_kind kind, std::size_t count, std::uint64_t seed) {
  random_numbers numbers(seed);
  std::vector<point> points(count);
  for (point& each : points) each = kind == point_kind::uniform ? in_disk(numbers) : in_cluster(numbers);
  return points;
}

std::vector<point> serial_hull(std::vector<point> points) {
  std::sort(points.begin(), points.end(), is_before);
  points.erase(std::unique(points.begin(), points.end()), points.end());
  if (points.size() < 2) return points;
  std::vector<point> hull;
  add_chain(points.begin(), points.end(), hull);
  add_chain(points.rbegin(), points.rend(), hull);
  return hull;
}

}  // namespace filch::bench
