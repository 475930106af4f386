// heat2d: heat spreads in a square of n x n cells, a stencil of five points in single precision, again and again over the
// same data; after the paper on almost deterministic work stealing (Shiina and Taura, SC 2019, sections 5.1 and 5.4).
//
// The square is quartered down to tiles of 64 x 64 cells; the quarters of each level are the tasks of a group, each with
// its number of cells as a work hint. Iterations follow each other; the first five are not timed.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "heat_region.hpp"
#include "tile_map.hpp"
#include "workload.hpp"

namespace filch::bench {

/// How one iteration is divided. Peers that prefer loops have `tiles` in place of `quarters`.
enum class heat_division : std::uint8_t {
  quarters,  ///< groups of four tasks with hints
  tiles,     ///< a loop over the tiles, by rows
  blocks     ///< a static loop: of the tiles, by rows, the t-th of equal blocks for worker t
};

struct heat_options {
  int n = 0;  ///< a power of two from 64 on
  int iterations = 20;
  heat_division division = heat_division::quarters;
  bool first_touch = false;  ///< tasks touch their data first, divided as the iterations are; else `prepare` does
  bool has_map = false;      ///< heat2d_instance::map() knows every tile and iteration
  /// Hints are wrong by up to so much: they are 1 - a : 1 - a/2 : 1 + a/2 : 1 + a or, random, 1 + r a with an r in
  /// [-1, 1] for each task of each iteration.
  double error = 0;
  bool error_is_random = false;
};

/// "2048", "4096/iterations=20/first_touch/wrong=10": see the text of `filch list`.
/// @throws std::invalid_argument as reject_size does.
heat_options parse_heat(std::string_view size);

/// A square part of the tiles.
struct heat_part {
  int row;
  int column;
  int side;
};

/// Work of the quarters of a part, in cells, as the hints say: top left, top right, bottom left, bottom right. None is 0
/// or less.
std::array<double, 4> heat_hints(const heat_options& options, int iteration, const heat_part& whole);

class heat2d_instance final : public instance {
 public:
  explicit heat2d_instance(const heat_options& chosen);

  void prepare() override;
  void begin(runner on) override;
  void run(runner on) override;
  [[nodiscard]] std::string result() const override;
  [[nodiscard]] bool verify() const override;
  [[nodiscard]] std::uint64_t tasks() const override;
  bool record_map() override;
  [[nodiscard]] work_map recorded_map() const override;

  /// Which worker updated which tile: complete if options.has_map, else counts of moves from the first timed iteration on.
  [[nodiscard]] const tile_map& map() const { return map_; }
  /// Tiles that another worker updated than in the iteration before, over all tiles of the timed iterations.
  [[nodiscard]] double moved_share() const;

 private:
  static constexpr int untimed = 5;

  [[nodiscard]] int side() const { return options_.n / heat_region::tile_side; }  // in tiles
  [[nodiscard]] int last_buffer() const { return options_.iterations % 2; }
  void begin_serially();

  void begin_tile(int row, int column);
  template <class Peer>
  void step_tile(int iteration, int row, int column);
  template <class Peer>
  void iterate(int first, int last);
  template <class Peer, class Tile>
  void for_each_tile(int iteration, const Tile& do_tile);
  template <class Peer, class Tile>
  void for_quarters(int iteration, const heat_part& whole, const Tile& do_tile);

  heat_options options_;
  std::optional<heat_region> region_;
  std::optional<heat_region> expected_;  // by a serial computation; last_buffer() counts
  tile_map map_;
  // The runner's repeated_loop and repeated_part, from `begin` to the end of `run`.
  std::shared_ptr<void> loop_;
  std::shared_ptr<void> part_;
};

}  // namespace filch::bench
