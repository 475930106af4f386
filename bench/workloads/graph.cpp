#include "graph.hpp"

#include <algorithm>
#include <numeric>

#include "random.hpp"

namespace filch::bench {
namespace {

// Fisher and Yates. The standard library's shuffle may differ between implementations.
template <class T>
void shuffle(std::vector<T>& values, std::uint64_t seed) {
  random_numbers numbers(seed);
  for (std::size_t left = values.size(); left > 1; --left) std::swap(values[left - 1], values[numbers.next() % left]);
}

// From the numbers of neighbours, shifted by one place, to where each row begins.
void sum_up(std::vector<std::size_t>& begin) { std::partial_sum(begin.begin(), begin.end(), begin.begin()); }

// Sorts each row, and closes the gaps that duplicates leave.
graph without_duplicates(const std::vector<std::size_t>& begin, std::vector<std::uint32_t> neighbours) {
  std::vector<std::size_t> new_begin{0};
  new_begin.reserve(begin.size());
  std::size_t kept = 0;
  for (std::size_t v = 0; v + 1 < begin.size(); ++v) {
    const auto row = std::span(neighbours).subspan(begin[v], begin[v + 1] - begin[v]);
    std::sort(row.begin(), row.end());
    const std::size_t row_begin = kept;
    for (const std::uint32_t neighbour : row) {
      if (kept == row_begin || neighbours[kept - 1] != neighbour) neighbours[kept++] = neighbour;
    }
    new_begin.push_back(kept);
  }
  neighbours.resize(kept);
  return {std::move(new_begin), std::move(neighbours)};
}

}  // namespace

graph graph_of(std::uint32_t vertices, std::span<const edge> edges) {
  std::vector<std::size_t> begin(std::size_t{vertices} + 1);
  for (const auto& [from, to] : edges) {
    if (from == to) continue;
    ++begin[from + std::size_t{1}];
    ++begin[to + std::size_t{1}];
  }
  sum_up(begin);
  std::vector<std::uint32_t> neighbours(begin.back());
  std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
  for (const auto& [from, to] : edges) {
    if (from == to) continue;
    neighbours[next[from]++] = to;
    neighbours[next[to]++] = from;
  }
  return without_duplicates(begin, std::move(neighbours));
}

graph renumbered(const graph& g, std::uint64_t seed) {
  std::vector<std::uint32_t> old_number(g.vertices());
  std::iota(old_number.begin(), old_number.end(), 0U);
  shuffle(old_number, seed);
  std::vector<std::uint32_t> new_number(g.vertices());
  std::vector<std::size_t> begin(g.vertices() + 1);
  for (std::uint32_t v = 0; v < g.vertices(); ++v) {
    new_number[old_number[v]] = v;
    begin[v + std::size_t{1}] = g.neighbours(old_number[v]).size();
  }
  sum_up(begin);
  std::vector<std::uint32_t> neighbours;
  neighbours.reserve(g.ends());
  for (const std::uint32_t old : old_number) {
    for (const std::uint32_t neighbour : g.neighbours(old)) neighbours.push_back(new_number[neighbour]);
  }
  return {std::move(begin), std::move(neighbours)};
}

std::vector<edge> shuffled_edges(const graph& g, std::uint64_t seed) {
  std::vector<edge> edges;
  edges.reserve(g.ends() / 2);
  for (std::uint32_t v = 0; v < g.vertices(); ++v) {
    for (const std::uint32_t neighbour : g.neighbours(v)) {
      if (v < neighbour) edges.push_back({v, neighbour});
    }
  }
  shuffle(edges, seed);
  return edges;
}

}  // namespace filch::bench
