#include "grid_graph.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace filch::bench {

graph grid_graph(int dimensions, std::uint32_t side) {
  std::uint32_t vertices = 1;
  for (int d = 0; d < dimensions; ++d) vertices *= side;
  std::vector<std::size_t> begin{0};
  begin.reserve(vertices + std::size_t{1});
  std::vector<std::uint32_t> neighbours;
  neighbours.reserve(std::size_t{vertices} * 2 * static_cast<std::size_t>(dimensions));
  std::vector<std::uint32_t> row;
  for (std::uint32_t v = 0; v < vertices; ++v) {
    row.clear();
    std::uint32_t stride = 1;
    for (int d = 0; d < dimensions; ++d, stride *= side) {
      const std::uint32_t at = v / stride % side;
      row.push_back(at + 1 == side ? v - at * stride : v + stride);
      row.push_back(at == 0 ? v + (side - 1) * stride : v - stride);
    }
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    for (const std::uint32_t neighbour : row) {
      if (neighbour != v) neighbours.push_back(neighbour);
    }
    begin.push_back(neighbours.size());
  }
  return {std::move(begin), std::move(neighbours)};
}

}  // namespace filch::bench
