#include "map_picture.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>

#include <fmt/format.h>

namespace filch::cli {

namespace {

constexpr double panel_width = 360;
constexpr double margin = 12;
constexpr double text_size = 11;
constexpr double line_height = 18;
constexpr double point_size = 0.8;
constexpr std::size_t most_points = 10'000;
constexpr colour ground{0.96, 0.96, 0.96};
constexpr colour ink{0, 0, 0, 0.55};

std::vector<int> iterations_of(const bench::work_map& map) {
  std::vector<int> all;
  std::ranges::transform(map.tiles, std::back_inserter(all), &bench::mapped_tile::iteration);
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

struct corner {
  double x;
  double y;
};

void draw_panel(drawing& to, const corner& at, const captioned_map& of, int iteration) {
  const bench::work_map& map = of.map;
  const double scale = panel_width / double{map.width};
  const double height = map.height * scale;
  to.fill_rectangle(at.x, at.y, panel_width, height, ground);
  const double gap = 0.2;  // so that neighbours of one colour can be told
  for (const bench::mapped_tile& tile : map.tiles) {
    if (tile.iteration != iteration) continue;
    // The plane's y grows upwards. Tiles may stick out of the plane, as cells of a tree do.
    const double left = std::max(0.0, tile.x * scale);
    const double right = std::min(panel_width, (double{tile.x} + tile.width) * scale);
    const double low = std::max(0.0, tile.y * scale);
    const double high = std::min(height, (double{tile.y} + tile.height) * scale);
    if (left >= right || low >= high) continue;
    to.fill_rectangle(at.x + left, at.y + height - high, std::max(right - left - gap, gap),
                      std::max(high - low - gap, gap), scale_colour(tile.worker, of.workers));
  }
  const std::size_t step = (map.points.size() + most_points - 1) / most_points;
  for (std::size_t i = 0; i < map.points.size(); i += step) {
    to.add_point(at.x + map.points[i].x * scale, at.y + height - map.points[i].y * scale, point_size);
  }
  if (!map.points.empty()) to.draw_points(ink);
}

void draw_scale(drawing& to, const corner& at, int workers) {
  constexpr double bar_height = 8;
  const double width = panel_width / workers;
  for (int i = 0; i < workers; ++i) {
    to.fill_rectangle(at.x + i * width, at.y, width, bar_height, scale_colour(i, workers));
  }
  to.write_caption(at.x, at.y + bar_height + text_size + 2, text_size,
                   fmt::format("worker 0, blue, to worker {}, red", workers - 1));
}

}  // namespace

colour scale_colour(int i, int count) {
  // The hue goes from 240 to 0 degrees: the sector of the blue and green ones, then that of the green and red ones.
  const double hue = count > 1 ? 4 * (1 - static_cast<double>(i) / (count - 1)) : 4;
  const auto part = [](double x) { return std::clamp(x, 0.0, 1.0); };
  return {part(2 - hue), part(hue < 2 ? hue : 4 - hue), part(hue - 2)};
}

std::unique_ptr<drawing> draw_maps(const std::string& title, const std::vector<captioned_map>& maps) {
  std::size_t rows = 1;
  double panel_height = 0;
  for (const captioned_map& each : maps) {
    rows = std::max(rows, iterations_of(each.map).size());
    panel_height = std::max(panel_height, panel_width * each.map.height / each.map.width);
  }
  const double row_height = panel_height + line_height;
  const double width = margin + static_cast<double>(maps.size()) * (panel_width + margin);
  const double height = margin + 2 * line_height + static_cast<double>(rows) * row_height + 2 * line_height + margin;
  auto picture = std::make_unique<drawing>(width, height);
  picture->write_caption(margin, margin + text_size, text_size, title);
  for (std::size_t column = 0; column < maps.size(); ++column) {
    const captioned_map& each = maps[column];
    const double x = margin + static_cast<double>(column) * (panel_width + margin);
    double y = margin + line_height;
    picture->write_caption(x, y + text_size, text_size, each.caption);
    const std::vector<int> iterations = iterations_of(each.map);
    for (const int iteration : iterations) {
      if (iterations.size() > 1) {
        picture->write_caption(x, y + text_size, text_size, fmt::format("iteration {}", iteration));
      }
      draw_panel(*picture, {x, y + line_height}, each, iteration);
      y += row_height;
    }
    draw_scale(*picture, {x, height - margin - 1.5 * line_height}, each.workers);
  }
  return picture;
}

}  // namespace filch::cli
