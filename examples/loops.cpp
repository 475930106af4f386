// Loops: parallel_for runs the iterations of a loop at the same time where somebody is idle. How many of them make a
// chunk is found out at run time, so nothing needs tuning, however small the body. Here a picture is rendered by a loop
// over rectangles, filtered by a loop over an index, and searched by a loop that another iteration may end.
#include <atomic>
#include <complex>
#include <cstddef>
#include <iostream>
#include <stop_token>
#include <vector>

#include <filch/filch.hpp>

namespace {

constexpr std::size_t width = 320;
constexpr std::size_t height = 200;

// Iterations until a point of the plane leaves the circle, at most 100: some pixels cost a hundred times as much as
// others, and nobody knows which.
int escape_time(std::size_t x, std::size_t y) {
  const std::complex<double> c(-2.2 + 3.2 * static_cast<double>(x) / width,
                               -1.0 + 2.0 * static_cast<double>(y) / height);
  std::complex<double> z;
  int n = 0;
  while (n < 100 && std::norm(z) < 4) {
    z = z * z + c;
    ++n;
  }
  return n;
}

// A range of two dimensions: the body gets rectangles, which together are the whole picture.
std::vector<int> render() {
  std::vector<int> picture(width * height);
  filch::parallel_for(filch::blocked_range2d<std::size_t>(0, height, 0, width), [&](const auto& tile) {
    for (std::size_t y = tile.rows().begin(); y != tile.rows().end(); ++y) {
      for (std::size_t x = tile.cols().begin(); x != tile.cols().end(); ++x) picture[y * width + x] = escape_time(x, y);
    }
  });
  return picture;
}

// An index: the body gets one number at a time. A loop may be inside of another one.
std::vector<int> blur(const std::vector<int>& picture) {
  std::vector<int> blurred(picture);
  filch::parallel_for(std::size_t{1}, height - 1, [&](std::size_t y) {
    filch::parallel_for(std::size_t{1}, width - 1, [&](std::size_t x) {
      const std::size_t at = y * width + x;
      blurred[at] = (picture[at - width] + picture[at - 1] + picture[at] + picture[at + 1] + picture[at + width]) / 5;
    });
  });
  return blurred;
}

// A loop that ends early: once a stop is requested, iterations that have not begun may be skipped. The `{}` is how the
// loop is split; left empty, as the scheduler thinks best.
bool contains(const std::vector<int>& picture, int wanted) {
  std::stop_source found;
  const filch::loop_status status = filch::parallel_for(
      picture.begin(), picture.end(),
      [&](int pixel) {
        if (pixel == wanted) found.request_stop();
      },
      {}, found.get_token());
  return status == filch::loop_status::stopped;
}

}  // namespace

int main() {
  const std::vector<int> picture = render();
  for (std::size_t y = 5; y < height; y += 10) {
    for (std::size_t x = 2; x < width; x += 4) std::cout << " .:-=+*#%@"[picture[y * width + x] / 11];
    std::cout << '\n';
  }

  // Every pixel was written, and is what it would be without filch.
  std::atomic<int> wrong = 0;
  filch::parallel_for(
      std::size_t{0}, picture.size(),
      [&](std::size_t i) {
        if (picture[i] != escape_time(i % width, i / width)) ++wrong;
      },
      filch::loop::lazy_breadth{.grain = 16});  // one of the published ways to split, with a grain

  const std::vector<int> blurred = blur(picture);
  const bool inside = contains(blurred, 100);
  const bool outside = contains(blurred, -1);
  std::cout << wrong << " pixels are wrong; the set " << (inside ? "is" : "is not") << " in the picture\n";
  return wrong == 0 && inside && !outside ? 0 : 1;
}
