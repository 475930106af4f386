// Graphs from files: PBBS's text formats, and lists of edges. docs/graphs.md describes them for users.
//
//   AdjacencyGraph   "AdjacencyGraph", the number of vertices n, the number of ends m, then n offsets into the m
//                    neighbours that follow
//   a list of edges  two numbers of vertices in a line; lines that begin with '#' or '%' are comments. The first line
//                    may be "EdgeArray", as PBBS has it.
//
// Numbers of vertices begin with 0 and end below most_vertices. Directed graphs become undirected ones: an edge is one,
// whichever way it is directed and however often it is there, and edges from a vertex to itself are left out.
#pragma once

#include <string>

#include "graph.hpp"
#include "parse_size.hpp"

namespace filch::bench {

/// Reads the file, which the size in `context` names; throws as `reject_size` does, with the line where there is one.
graph read_graph_file(const size_context& context, const std::string& path);

}  // namespace filch::bench
