// Points in the plane, and on which side of a line they lie.
//
// Coordinates are whole numbers of at most 2^24, so that floats hold them and `side` is exact in doubles: two
// algorithms that find a convex hull find the same one. Quickhull waits for memory mostly, so points are kept small.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace filch::bench {

struct point {
  std::int32_t x;  // from -2^24 to 2^24
  std::int32_t y;

  friend bool operator==(const point&, const point&) = default;
};

/// From left to right, and from below where two are above each other.
inline bool is_before(const point& a, const point& b) { return a.x < b.x || (a.x == b.x && a.y < b.y); }

/// Positive where c is to the left of the line from a to b, zero on it; the greater, the farther away.
inline std::int64_t side(const point& a, const point& b, const point& c) {
  return std::int64_t{b.x - a.x} * (c.y - a.y) - std::int64_t{b.y - a.y} * (c.x - a.x);
}

/// `uniform` in a disk; `plummer` as the stars of a Plummer model are seen from afar: most near the centre, few very
/// far away from it.
enum class point_kind { uniform, plummer };

/// The same for the same arguments.
std::vector<point> random_points(point_kind kind, std::size_t count, std::uint64_t seed);

/// The corners of the convex hull, clockwise from the leftmost. Points on its edges are none. Serial: the points are
/// sorted, and the upper and the lower half are found in one pass each (Andrew 1979).
std::vector<point> serial_hull(std::vector<point> points);

}  // namespace filch::bench
