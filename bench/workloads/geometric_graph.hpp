// Random geometric graphs: points of the unit square, connected where they are close.
//
// As the 10th DIMACS challenge makes its graphs rgg_n_2_k (Holtgrewe, Sanders, Schulz, IPDPS 2010): n points, and an
// edge between any two that are less than 0.55 sqrt(ln n / n) apart, which nearly always leaves nearly all of them
// connected. Points are numbered by squares of that width, row by row, so that neighbours have numbers close by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace filch::bench {

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

 private:
  std::vector<std::size_t> begin_;
  std::vector<std::uint32_t> neighbours_;
};

/// The same graph for the same arguments. vertices > 0. Takes O(vertices log vertices).
graph random_geometric_graph(std::uint32_t vertices, std::uint64_t seed);

}  // namespace filch::bench
