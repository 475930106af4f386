#include "heat2d.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include <filch/vm.hpp>

#include "catalogue.hpp"
#include "parse_size.hpp"
#include "random.hpp"
#include "with_peer.hpp"

namespace filch::bench {
namespace {

constexpr int tile_side = heat_region::tile_side;
constexpr int largest_n = 16384;
constexpr int fewest_iterations = 6;  // one is timed
constexpr int most_iterations = 10'000;

vm::work cell("heat_cell");

// The steps of a tile are told to the virtual machine row by row, what lies around the tile with them.
void touch_step(const heat_region& region, int to, int row, int column) {
  constexpr std::size_t bytes = tile_side * sizeof(float);
  const auto source = [&](int i) { return region.row(1 - to, row + i) + column; };
  vm::touch(source(-1), bytes);
  for (int i = 0; i < tile_side; ++i) {
    vm::touch(source(i) - 1, bytes + 2 * sizeof(float));
    vm::touch(region.row(to, row + i) + column, bytes, true);
  }
  vm::touch(source(tile_side), bytes);
}

void touch_begin(const heat_region& region, int row, int rows, int column, int columns) {
  const std::size_t bytes = static_cast<std::size_t>(columns) * sizeof(float);
  for (int i = row; i < row + rows; ++i) {
    for (const int buffer : {0, 1}) vm::touch(region.row(buffer, i) + column, bytes, true);
  }
}

// By whole rows, so that nothing of how iterations are divided is in it.
heat_region computed_serially(int n, int iterations) {
  heat_region region(n);
  region.begin(0, n, 0, n);
  for (int i = 0; i < iterations; ++i) region.step((i + 1) % 2, 0, n, 0, n);
  return region;
}

// Part of a size: `name` ends with '=' if it has a value.
void read_part(const size_context& context, std::string_view name, std::string_view value, heat_options& chosen) {
  const auto percent = [&] { return 0.01 * parse_real(context, value, 0, 100); };
  if (name == "iterations=") {
    chosen.iterations = static_cast<int>(parse_whole(context, value, fewest_iterations, most_iterations));
  } else if (name == "first_touch") {
    chosen.first_touch = true;
  } else if (name == "map") {
    chosen.has_map = true;
  } else if (name == "tiles") {
    chosen.division = heat_division::tiles;
  } else if (name == "blocks") {
    chosen.division = heat_division::blocks;
  } else if (name == "wrong=") {
    chosen.error = percent();
  } else if (name == "random_wrong=") {
    chosen.error = percent();
    chosen.error_is_random = true;
  } else {
    reject_size(context,
                fmt::format("has '{}', which is none of iterations=, first_touch, wrong=, random_wrong=, tiles, "
                            "blocks, map",
                            name));
  }
}

// In [-1, 1], the same for the same task of the same iteration.
double random_error(int iteration, const heat_part& whole, int quarter) {
  std::uint64_t task = 0;
  for (const int each : {whole.row, whole.column, whole.side, iteration, quarter}) {
    task = mix(task + static_cast<std::uint64_t>(each) + 1);
  }
  return 2 * random_numbers(task).next_real() - 1;
}

}  // namespace

std::array<double, 4> heat_hints(const heat_options& options, int iteration, const heat_part& whole) {
  constexpr std::array<double, 4> fixed_errors{-1, -0.5, 0.5, 1};
  // A hint of nothing would be no place among the workers.
  constexpr double least = 1e-6;
  const double cells = 0.25 * (whole.side * tile_side) * (whole.side * tile_side);
  std::array<double, 4> hints{};
  for (int i = 0; i < 4; ++i) {
    const double error = options.error_is_random ? random_error(iteration, whole, i) : fixed_errors[i];
    hints[i] = cells * std::max(least, 1 + options.error * error);
  }
  return hints;
}

heat2d_instance::heat2d_instance(const heat_options& chosen)
    : options_(chosen),
      map_(static_cast<std::uint32_t>(side()), static_cast<std::uint32_t>(chosen.iterations), chosen.has_map) {}

void heat2d_instance::prepare() {
  if (!expected_) expected_.emplace(computed_serially(options_.n, options_.iterations));
  // Pages keep their places, so those that tasks are to touch first are new in each run.
  if (!region_ || options_.first_touch) region_ = heat_region(options_.n);
  if (!options_.first_touch) begin_serially();
  map_.clear();
}

void heat2d_instance::begin_serially() {
  touch_begin(*region_, 0, options_.n, 0, options_.n);
  region_->begin(0, options_.n, 0, options_.n);
}

void heat2d_instance::begin_tile(int row, int column) {
  touch_begin(*region_, row * tile_side, tile_side, column * tile_side, tile_side);
  region_->begin(row * tile_side, tile_side, column * tile_side, tile_side);
}

template <class Peer>
void heat2d_instance::step_tile(int iteration, int row, int column) {
  const int to = (iteration + 1) % 2;
  touch_step(*region_, to, row * tile_side, column * tile_side);
  region_->step(to, row * tile_side, tile_side, column * tile_side, tile_side);
  cell.done(tile_side * tile_side);
  map_.record(static_cast<std::uint32_t>(iteration), static_cast<std::uint32_t>(row),
              static_cast<std::uint32_t>(column), Peer::this_worker(), untimed);
}

template <class Peer, class Tile>
void heat2d_instance::for_quarters(int iteration, const heat_part& whole, const Tile& do_tile) {
  if (whole.side == 1) {
    do_tile(whole.row, whole.column);
    return;
  }
  const std::array<double, 4> hints = heat_hints(options_, iteration, whole);
  typename Peer::hinted_group quarters(hints[0] + hints[1] + hints[2] + hints[3]);
  const int half = whole.side / 2;
  for (int i = 0; i < 4; ++i) {
    const heat_part part{whole.row + i / 2 * half, whole.column + i % 2 * half, half};
    quarters.run([this, iteration, part, &do_tile] { for_quarters<Peer>(iteration, part, do_tile); }, hints[i]);
  }
  quarters.wait();
}

template <class Peer, class Tile>
void heat2d_instance::for_each_tile(int iteration, const Tile& do_tile) {
  if (options_.division == heat_division::quarters && !Peer::prefers_loops) {
    for_quarters<Peer>(iteration, {0, 0, side()}, do_tile);
    return;
  }
  const auto width = static_cast<std::uint64_t>(side());
  const std::uint64_t tiles = width * width;
  const auto numbered = [&](std::uint64_t i) { do_tile(static_cast<int>(i / width), static_cast<int>(i % width)); };
  if (options_.division == heat_division::blocks) {
    const auto blocks = static_cast<std::uint64_t>(Peer::workers());
    Peer::for_each_part(blocks, [&](std::uint64_t block) {
      const std::uint64_t end = tiles * (block + 1) / blocks;
      for (std::uint64_t i = tiles * block / blocks; i < end; ++i) numbered(i);
    });
  } else {
    static_cast<typename Peer::repeated_loop*>(loop_.get())->run(tiles, numbered);
  }
}

template <class Peer>
void heat2d_instance::iterate(int first, int last) {
  auto& part = *static_cast<typename Peer::repeated_part*>(part_.get());
  for (int iteration = first; iteration < last; ++iteration) {
    part.run([this, iteration] {
      for_each_tile<Peer>(iteration,
                          [this, iteration](int row, int column) { step_tile<Peer>(iteration, row, column); });
    });
  }
}

void heat2d_instance::begin(runner on) {
  cell.look_up();
  with_peer(on, [this]<class Peer>() {
    loop_ = std::make_shared<typename Peer::repeated_loop>();
    part_ = std::make_shared<typename Peer::repeated_part>();
    if (options_.first_touch) {
      for_each_tile<Peer>(0, [this](int row, int column) { begin_tile(row, column); });
    }
    iterate<Peer>(0, untimed);
  });
}

void heat2d_instance::run(runner on) {
  with_peer(on, [this]<class Peer>() { iterate<Peer>(untimed, options_.iterations); });
}

std::string heat2d_instance::result() const {
  double sum = 0;
  for (int i = 0; i < options_.n; ++i) {
    for (int j = 0; j < options_.n; ++j) sum += static_cast<double>(region_->row(last_buffer(), i)[j]);
  }
  return fmt::format("heat {:.6g}, {:.1f} % of tiles moved", sum, 100 * moved_share());
}

bool heat2d_instance::verify() const { return is_same(*region_, last_buffer(), *expected_, last_buffer()); }

double heat2d_instance::moved_share() const {
  return static_cast<double>(map_.moves()) / ((options_.iterations - untimed) * static_cast<double>(side()) * side());
}

bool heat2d_instance::record_map() {
  options_.has_map = true;
  map_ = tile_map(static_cast<std::uint32_t>(side()), static_cast<std::uint32_t>(options_.iterations), true);
  return true;
}

// The last iterations, beside which one sees what stays.
work_map heat2d_instance::recorded_map() const {
  constexpr int shown = 4;
  const auto width = static_cast<std::size_t>(side());
  const std::vector<std::uint32_t> workers = map_.workers();
  work_map map{.width = static_cast<float>(width), .height = static_cast<float>(width)};
  for (int iteration = options_.iterations - shown; iteration < options_.iterations; ++iteration) {
    for (std::size_t tile = 0; tile < width * width; ++tile) {
      const std::size_t row = tile / width;
      const std::uint32_t worker = workers[static_cast<std::size_t>(iteration) * width * width + tile];
      map.tiles.push_back({.iteration = iteration,
                           .x = static_cast<float>(tile % width),
                           .y = static_cast<float>(width - 1 - row),
                           .width = 1,
                           .height = 1,
                           .worker = static_cast<int>(worker)});
    }
  }
  return map;
}

// Groups of four tasks, or a loop over tiles.
std::uint64_t heat2d_instance::tasks() const {
  const auto tiles = static_cast<std::uint64_t>(side()) * static_cast<std::uint64_t>(side());
  const std::uint64_t of_one = options_.division == heat_division::quarters ? 4 * (tiles - 1) / 3 : tiles;
  return of_one * static_cast<std::uint64_t>(options_.iterations - untimed);
}

heat_options parse_heat(std::string_view size) {
  const size_context context{"heat2d", size, "2048"};
  heat_options chosen;
  std::size_t slash = size.find('/');
  const std::string_view first = size.substr(0, slash);
  chosen.n = static_cast<int>(parse_whole(context, first, tile_side, largest_n));
  if (!std::has_single_bit(static_cast<unsigned>(chosen.n))) {
    reject_size(context, fmt::format("has '{}', which is not a power of two", first));
  }
  std::vector<std::string_view> seen;
  while (slash != std::string_view::npos) {
    const std::size_t begin = slash + 1;
    slash = size.find('/', begin);
    const std::string_view part = size.substr(begin, slash == std::string_view::npos ? slash : slash - begin);
    const std::string_view key = part.substr(0, part.find('=') + 1);  // empty without a value
    const std::string_view name = key.empty() ? part : key;
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
      reject_size(context, fmt::format("has '{}' twice", name));
    }
    seen.push_back(name);
    read_part(context, name, part.substr(key.size()), chosen);
  }
  const auto has = [&](std::string_view name) { return std::find(seen.begin(), seen.end(), name) != seen.end(); };
  if (has("tiles") && has("blocks")) reject_size(context, "has both tiles and blocks, but iterations are divided once");
  if (has("wrong=") && has("random_wrong=")) reject_size(context, "has hints that are wrong in two ways");
  if (chosen.division != heat_division::quarters && (has("wrong=") || has("random_wrong="))) {
    reject_size(context, "has hints that are wrong, but a loop, which has none");
  }
  return chosen;
}

workload heat2d_workload() {
  return {
      "heat2d",
      "stencil on n x n cells, repeated, by quarters with hints; parts after n: iterations=20 (5 of them not timed), "
      "first_touch, wrong=PERCENT or random_wrong=PERCENT (of the hints), tiles or blocks (loops), map",
      "2048",
      {"2048", "4096", "8192", "4096/first_touch", "4096/wrong=10", "4096/random_wrong=10", "2048/iterations=100",
       "2048/tiles", "2048/blocks/first_touch"},
      [](std::string_view size) -> std::unique_ptr<instance> {
        return std::make_unique<heat2d_instance>(parse_heat(size));
      },
      "512"};
}

}  // namespace filch::bench
