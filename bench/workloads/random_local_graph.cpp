#include "random_local_graph.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "random.hpp"

namespace filch::bench {
namespace {

// From 1 to half of the circle. A distance is longer than x with probability x^(-1/5), but for the cut at the end.
class distances {
 public:
  explicit distances(std::uint32_t vertices) : longest_(vertices / 2), end_(std::pow(longest_ + 1.0, -0.2)) {}

  std::uint32_t draw(random_numbers& numbers) const {
    const double root = 1 - numbers.next_real() * (1 - end_);
    const double distance = 1 / (root * root * root * root * root);
    return std::min(longest_, static_cast<std::uint32_t>(distance));
  }

 private:
  std::uint32_t longest_;
  double end_;
};

}  // namespace

graph random_local_graph(std::uint32_t vertices, int edges, std::uint64_t seed) {
  if (vertices == 1) return {{0, 0}, {}};
  random_numbers numbers(seed);
  const distances any(vertices);
  std::vector<edge> all;
  all.reserve(std::size_t{vertices} * static_cast<std::size_t>(edges));
  for (std::uint32_t v = 0; v < vertices; ++v) {
    for (int i = 0; i < edges; ++i) {
      const std::uint32_t distance = any.draw(numbers);
      const bool forward = (numbers.next() & 1) != 0;
      const std::uint32_t ahead = forward ? distance : vertices - distance;
      all.push_back({v, v < vertices - ahead ? v + ahead : v - (vertices - ahead)});
    }
  }
  return graph_of(vertices, all);
}

}  // namespace filch::bench
