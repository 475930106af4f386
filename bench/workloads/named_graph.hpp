// The graphs that sizes of workloads name: "grid2d/1000000", "grid3d/1000000", "rlg/1000000", "rmat/1000000", the
// number being that of vertices. They are the kinds that the private-deques paper (Acar, Charguéraud, Rainey 2013) took
// from PBBS; the random ones have five times as many edges as vertices, less those that come twice. "file/PATH" is a
// graph from a file (graph_file.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "graph.hpp"
#include "parse_size.hpp"

namespace filch::bench {

enum class graph_kind { grid2d, grid3d, random_local, rmat, file };

struct named_graph {
  graph_kind kind;
  std::uint32_t vertices;
  std::shared_ptr<const graph> from_file = nullptr;
};

/// The whole size; throws as `reject_size` does. Reads a graph that is in a file.
named_graph parse_graph(const size_context& context);

/// The same graph each time.
graph make_graph(const named_graph& of);

/// Does the size name a file?
bool names_file(std::string_view size);

/// For listings.
std::vector<std::string> graph_sizes();

}  // namespace filch::bench
