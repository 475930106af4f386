// Grids in two, three or any number of dimensions that close upon themselves (tori), as PBBS has them.
#pragma once

#include <cstdint>

#include "graph.hpp"

namespace filch::bench {

/// side^dimensions vertices, numbered row by row; each has an edge to the next and to the last along each dimension.
/// With a side of 1 or 2 some of these are the vertex itself or each other, and are left out. side > 0.
graph grid_graph(int dimensions, std::uint32_t side);

}  // namespace filch::bench
