// The length of a path: transforms every two neighbouring points into their distance and adds these up. Floating-point
// numbers are added in an order that depends on nothing but how many there are, so every run prints the same digits,
// on any number of workers.
#include <cmath>
#include <cstddef>
#include <functional>
#include <iostream>
#include <vector>

#include <filch/filch.hpp>

namespace {

struct point {
  double x;
  double y;
};

std::vector<point> spiral(std::size_t points) {
  std::vector<point> path(points);
  filch::parallel_for(std::size_t{0}, points, [&](std::size_t i) {
    const double turn = static_cast<double>(i) / 1000;
    path[i] = {turn * std::cos(turn), turn * std::sin(turn)};
  });
  return path;
}

double length(const std::vector<point>& path) {
  const auto distance = [](point a, point b) { return std::hypot(b.x - a.x, b.y - a.y); };
  return filch::parallel_transform_reduce(path.begin(), path.end() - 1, path.begin() + 1, 0.0, std::plus<>(), distance);
}

}  // namespace

int main() {
  const std::vector<point> path = spiral(100'000);
  std::cout.precision(17);
  double first = 0;
  for (const int workers : {1, 2, 3}) {
    filch::scheduler pool({.workers = workers});
    const double result = pool.run([&] { return length(path); });
    std::cout << workers << " workers: " << result << '\n';
    if (workers == 1) first = result;
    if (result != first) return 1;
  }
  return std::abs(first - 5000) < 10 ? 0 : 1;  // the spiral r = t has the length t*t/2, and a little more
}
