// R-MAT graphs (Chakrabarti, Zhan, Faloutsos, SDM 2004): few vertices have very many edges, most have few or none.
#pragma once

#include <cstdint>

#include "graph.hpp"

namespace filch::bench {

/// Each edge is an element of the adjacency matrix, found by choosing one of its quarters again and again: the first
/// with probability 0.5, the second and the third with 0.1, the last with 0.3, as PBBS does. Where the number of
/// vertices is no power of two, elements beyond the matrix are drawn again. Of edges that come twice one is kept, and
/// edges from a vertex to itself are left out, so there are fewer than asked for. vertices > 0.
graph rmat_graph(std::uint32_t vertices, std::uint64_t edges, std::uint64_t seed);

}  // namespace filch::bench
