// Which worker computed which part of a plane: what pictures of schedules are drawn from.
#pragma once

#include <vector>

namespace filch::bench {

/// A part of the plane, computed by a worker. Workers are numbered from 0.
struct mapped_tile {
  int iteration;
  float x;  ///< of its lower left corner
  float y;
  float width;
  float height;
  int worker;
};

struct mapped_point {
  float x;
  float y;
};

struct work_map {
  float width = 0;  ///< of the plane, whose lower left corner is at 0, 0
  float height = 0;
  std::vector<mapped_tile> tiles{};
  std::vector<mapped_point> points{};  ///< what lies in the plane
};

}  // namespace filch::bench
