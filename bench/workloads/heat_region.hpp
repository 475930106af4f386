// The data of workload heat2d: the temperatures of n x n cells in single precision, in two buffers, one of which is
// computed from the other. What lies around the region is at 0.
//
// Rows are padded by a line of 64 bytes, so that those of a power of two do not share sets of a cache. The padding stays
// at 0: it is what lies to the right of its row and to the left of the next one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace filch::bench {

class heat_region {
 public:
  static constexpr int tile_side = 64;

  /// n: a multiple of `tile_side`. The memory is new, zero, and nobody has touched it. @throws std::bad_alloc
  explicit heat_region(int n);
  ~heat_region();
  heat_region(heat_region&& from) noexcept;
  heat_region& operator=(heat_region&& from) noexcept;
  heat_region(const heat_region&) = delete;
  heat_region& operator=(const heat_region&) = delete;

  [[nodiscard]] int size() const { return n_; }
  /// `row`: from -1 to n; `buffer`: 0 or 1.
  [[nodiscard]] float* row(int buffer, int row) {
    return const_cast<float*>(static_cast<const heat_region*>(this)->row(buffer, row));
  }
  [[nodiscard]] const float* row(int buffer, int row) const {
    return cells_ + static_cast<std::size_t>(buffer) * buffer_cells() + line_cells +
           static_cast<std::size_t>(row + 1) * stride();
  }

  // Of rows and columns [row, row + rows) x [column, column + columns).

  /// Temperatures to begin with, in buffer 0, and zeros in buffer 1.
  void begin(int row, int rows, int column, int columns);
  /// One step: buffer `to` from the other one.
  void step(int to, int row, int rows, int column, int columns);

 private:
  static constexpr std::size_t line_cells = 64 / sizeof(float);

  [[nodiscard]] std::size_t stride() const { return static_cast<std::size_t>(n_) + line_cells; }
  /// A line before the first row, and one row more at either end; whole pages.
  [[nodiscard]] std::size_t buffer_cells() const;
  [[nodiscard]] std::size_t bytes() const { return 2 * buffer_cells() * sizeof(float); }

  int n_;
  float* cells_;
};

/// The temperature of each of so many cells of a row: a fifth of the sum of its own and its neighbours', whatever the
/// vectors of the processor in the same order.
void heat_row(float* to, const float* above, const float* row, const float* below, int columns);

/// The same bits as far as temperatures go: in all cells of these buffers.
bool is_same(const heat_region& a, int buffer_of_a, const heat_region& b, int buffer_of_b);

}  // namespace filch::bench
