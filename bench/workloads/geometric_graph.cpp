#include "geometric_graph.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "random.hpp"

namespace filch::bench {
namespace {

struct site {
  double x;
  double y;
};

// The points, by squares at least as wide as edges are long: all neighbours of a point are in its own square or in the
// eight around it.
class point_grid {
 public:
  point_grid(std::uint32_t count, double width, std::uint64_t seed)
      : side_(std::max(1, static_cast<int>(std::floor(1 / width)))), begin_(square_count() + 1) {
    random_numbers numbers(seed);
    std::vector<site> unsorted(count);
    for (site& p : unsorted) {
      p.x = numbers.next_real();
      p.y = numbers.next_real();
      ++begin_[square_of(p) + 1];
    }
    for (std::size_t i = 0; i + 1 < begin_.size(); ++i) begin_[i + 1] += begin_[i];
    std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
    points_.resize(count);
    for (const site& p : unsorted) points_[next[square_of(p)]++] = p;
  }

  const std::vector<site>& points() const { return points_; }

  // Calls visit(number) for every point that may be close to p.
  template <class Visit>
  void for_each_near(const site& p, const Visit& visit) const {
    const int column = coordinate(p.x);
    const int row = coordinate(p.y);
    for (int r = std::max(0, row - 1); r <= std::min(side_ - 1, row + 1); ++r) {
      const std::size_t first = square(r, std::max(0, column - 1));
      const std::size_t last = square(r, std::min(side_ - 1, column + 1));
      for (std::size_t i = begin_[first]; i < begin_[last + 1]; ++i) visit(i);
    }
  }

 private:
  std::size_t square_count() const { return static_cast<std::size_t>(side_) * static_cast<std::size_t>(side_); }
  int coordinate(double of) const { return std::min(side_ - 1, static_cast<int>(of * side_)); }
  std::size_t square(int row, int column) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(side_) + static_cast<std::size_t>(column);
  }
  std::size_t square_of(const site& p) const { return square(coordinate(p.y), coordinate(p.x)); }

  int side_;                        // in squares
  std::vector<std::size_t> begin_;  // of each square's points, and the end of the last
  std::vector<site> points_;
};

}  // namespace

graph random_geometric_graph(std::uint32_t vertices, std::uint64_t seed) {
  const double n = vertices;
  const double longest = 0.55 * std::sqrt(std::log(n) / n);
  const point_grid grid(vertices, std::max(longest, 1 / std::sqrt(n)), seed);
  std::vector<std::size_t> begin{0};
  std::vector<std::uint32_t> neighbours;
  for (std::size_t v = 0; v < vertices; ++v) {
    const site& p = grid.points()[v];
    grid.for_each_near(p, [&](std::size_t other) {
      const site& q = grid.points()[other];
      const double square_of_distance = (p.x - q.x) * (p.x - q.x) + (p.y - q.y) * (p.y - q.y);
      if (other != v && square_of_distance < longest * longest) {
        neighbours.push_back(static_cast<std::uint32_t>(other));
      }
    });
    begin.push_back(neighbours.size());
  }
  return {std::move(begin), std::move(neighbours)};
}

}  // namespace filch::bench
