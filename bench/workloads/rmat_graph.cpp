#include "rmat_graph.hpp"

#include <bit>
#include <vector>

#include "random.hpp"

namespace filch::bench {
namespace {

constexpr double first = 0.5;
constexpr double second = 0.1;
constexpr double third = 0.1;

edge random_element(std::uint32_t side, random_numbers& numbers) {
  edge element{0, 0};
  for (std::uint32_t half = side / 2; half != 0; half /= 2) {
    const double r = numbers.next_real();
    if (r >= first + second) element.from += half;
    if (r >= first && (r < first + second || r >= first + second + third)) element.to += half;
  }
  return element;
}

}  // namespace

graph rmat_graph(std::uint32_t vertices, std::uint64_t edges, std::uint64_t seed) {
  random_numbers numbers(seed);
  const std::uint32_t side = std::bit_ceil(vertices);
  std::vector<edge> all;
  all.reserve(edges);
  while (all.size() < edges) {
    const edge element = random_element(side, numbers);
    if (element.from < vertices && element.to < vertices) all.push_back(element);
  }
  return graph_of(vertices, all);
}

}  // namespace filch::bench
