// Random local graphs (rlg): most edges are short, a few are long, as PBBS has them.
#pragma once

#include <cstdint>

#include "graph.hpp"

namespace filch::bench {

/// Vertices lie on a circle. Each gets `edges` edges to others, whose distance is x with a probability proportional to
/// x^-(1 + 1/5), the distances in a space of five dimensions. Of edges that come twice one is kept. vertices > 0.
graph random_local_graph(std::uint32_t vertices, int edges, std::uint64_t seed);

}  // namespace filch::bench
