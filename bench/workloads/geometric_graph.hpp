// Random geometric graphs: points of the unit square, connected where they are close.
//
// As the 10th DIMACS challenge makes its graphs rgg_n_2_k (Holtgrewe, Sanders, Schulz, IPDPS 2010): n points, and an
// edge between any two that are less than 0.55 sqrt(ln n / n) apart, which nearly always leaves nearly all of them
// connected. Points are numbered by squares of that width, row by row, so that neighbours have numbers close by.
#pragma once

#include <cstdint>

#include "graph.hpp"

namespace filch::bench {

/// The same graph for the same arguments. vertices > 0. Takes O(vertices log vertices).
graph random_geometric_graph(std::uint32_t vertices, std::uint64_t seed);

}  // namespace filch::bench
