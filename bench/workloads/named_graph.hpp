// The graphs that sizes of workloads name: "grid2d/1000000", "grid3d/1000000", "rlg/1000000", "rmat/1000000", the
// number being that of vertices. They are the kinds that the private-deques paper (Acar, Charguéraud, Rainey 2013) took
// from PBBS; the random ones have five times as many edges as vertices, less those that come twice.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph.hpp"
#include "parse_size.hpp"

namespace filch::bench {

enum class graph_kind { grid2d, grid3d, random_local, rmat };

struct named_graph {
  graph_kind kind;
  std::uint32_t vertices;
};

/// The whole size; throws as `reject_size` does.
named_graph parse_graph(const size_context& context);

/// The same graph each time.
graph make_graph(const named_graph& of);

/// For listings.
std::vector<std::string> graph_sizes();

}  // namespace filch::bench
