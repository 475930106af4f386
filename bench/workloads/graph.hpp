// Undirected graphs in compressed rows, and what generators and workloads need to make them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace filch::bench {

struct edge {
  std::uint32_t from;
  std::uint32_t to;
};

/// Graphs that are asked for may have so many vertices.
inline constexpr std::uint32_t most_vertices = 50'000'000;

/// An undirected graph; each edge is listed at both of its ends.
class graph {
 public:
  /// The neighbours of vertex v are those from begin[v] to begin[v + 1].
  graph(std::vector<std::size_t> begin, std::vector<std::uint32_t> neighbours)
      : begin_(std::move(begin)), neighbours_(std::move(neighbours)) {}

  std::size_t vertices() const { return begin_.size() - 1; }
  std::size_t ends() const { return neighbours_.size(); }  ///< Twice the number of edges.
  std::span<const std::uint32_t> neighbours(std::uint32_t v) const {
    return std::span(neighbours_).subspan(begin_[v], begin_[v + 1] - begin_[v]);
  }

  /// Hints, in this order, for who is going to ask for the neighbours of several vertices.
  void prefetch(std::uint32_t v) const { __builtin_prefetch(&begin_[v]); }
  void prefetch_neighbours(std::uint32_t v) const { __builtin_prefetch(neighbours_.data() + begin_[v]); }

 private:
  std::vector<std::size_t> begin_;
  std::vector<std::uint32_t> neighbours_;
};

/// The graph with these edges, whichever way each is directed. Edges from a vertex to itself are left out, and of
/// several between the same two vertices one is kept. Neighbours are in ascending order.
graph graph_of(std::uint32_t vertices, std::span<const edge> edges);

/// The same graph, its vertices numbered in a random order that depends on the seed alone.
graph renumbered(const graph& g, std::uint64_t seed);

/// Each edge once, from the lower number to the higher, in a random order that depends on the seed alone.
std::vector<edge> shuffled_edges(const graph& g, std::uint64_t seed);

}  // namespace filch::bench
