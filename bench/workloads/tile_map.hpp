// Which worker updated which tile in which iteration: what shows whether a scheduler gives a worker the same data again
// (Figure 1 of the paper on almost deterministic work stealing; Shiina and Taura, SC 2019).
//
// Any thread may record, each tile once in an iteration; iterations follow each other. All else before or afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <vector>

namespace filch::bench {

class tile_map {
 public:
  /// Of side x side tiles. `is_kept`: the worker of every tile and iteration is kept, eight bytes each; else only how many
  /// tiles have moved.
  tile_map(std::uint32_t side, std::uint32_t iterations, bool is_kept);

  /// Forgets everything.
  void clear();

  /// `worker`: some number that no other worker has. Changes of worker count from iteration `first` on.
  void record(std::uint32_t iteration, std::uint32_t row, std::uint32_t column, std::uintptr_t worker,
              std::uint32_t first) {
    const std::size_t at = std::size_t{row} * side_ + column;
    tile& t = tiles_[at];
    if (iteration >= first && t.worker != worker) ++t.moves;
    t.worker = worker;
    if (is_kept_) workers_[iteration * tiles_.size() + at] = worker;
  }

  /// Tiles that were updated by another worker than in the iteration before.
  [[nodiscard]] std::uint64_t moves() const;

  /// The worker of a tile, numbered from 0 on in the order of the numbers that were recorded. Only if all was kept.
  [[nodiscard]] std::vector<std::uint32_t> workers() const;

  /// Lines "iteration,row,column,worker" below a line with these words. Only if all was kept.
  void write(std::ostream& to) const;

 private:
  struct tile {
    std::uintptr_t worker = 0;
    std::uint64_t moves = 0;
  };

  std::uint32_t side_;
  std::uint32_t iterations_;
  bool is_kept_;
  std::vector<tile> tiles_;              // by row
  std::vector<std::uintptr_t> workers_;  // by iteration, then as the tiles
};

}  // namespace filch::bench
