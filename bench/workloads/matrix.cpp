#include "matrix.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "random.hpp"

namespace filch::bench {
namespace {

constexpr int tile = 4;  // 4 x 4 sums fit into the registers of every processor with vectors of two doubles

// `rows` by `columns` sums, at most `tile` each, over all y terms. With constant sizes the sums stay in registers.
[[gnu::always_inline]] inline void multiply_tile(const block_product& p, int i, int k, int rows, int columns, int y) {
  std::array<std::array<double, tile>, tile> sums = {};
  const double* const a = p.a + static_cast<std::size_t>(i) * p.stride;
  const double* b = p.b + k;
  for (int j = 0; j < y; ++j, b += p.stride) {
    for (int row = 0; row < rows; ++row) {
      const double factor = a[static_cast<std::size_t>(row) * p.stride + static_cast<std::size_t>(j)];
      for (int column = 0; column < columns; ++column) sums[row][column] += factor * b[column];
    }
  }
  for (int row = 0; row < rows; ++row) {
    double* const c = p.c + static_cast<std::size_t>(i + row) * p.stride + k;
    for (int column = 0; column < columns; ++column) {
      c[column] = sums[row][column] + (p.mode == product_mode::add ? c[column] : 0.0);
    }
  }
}

std::vector<double> product(const matrix& m, const std::vector<double>& vector) {
  std::vector<double> result(vector.size());
  for (int i = 0; i < m.size(); ++i) {
    const double* const row = m.row(i);
    for (int j = 0; j < m.size(); ++j) result[i] += row[j] * vector[j];
  }
  return result;
}

}  // namespace

matrix::matrix(int size) : size_(size) {
  // An odd number of cache lines.
  constexpr std::size_t line = 64 / sizeof(double);
  const std::size_t lines = (static_cast<std::size_t>(size) + line - 1) / line;
  stride_ = (lines | 1) * line;
  values_.resize(static_cast<std::size_t>(size) * stride_);
}

void matrix::fill_random(std::uint64_t seed) {
  random_numbers numbers(seed);
  for (double& value : values_) value = 2 * numbers.next_real() - 1;
}

void matrix::fill(double value) { std::fill(values_.begin(), values_.end(), value); }

void multiply_block(const block_product& product, int x, int y, int z) {
  for (int i = 0; i < x; i += tile) {
    for (int k = 0; k < z; k += tile) {
      const int rows = std::min(tile, x - i);
      const int columns = std::min(tile, z - k);
      if (rows == tile && columns == tile) {
        multiply_tile(product, i, k, tile, tile, y);
      } else {
        multiply_tile(product, i, k, rows, columns, y);
      }
    }
  }
}

bool is_product(const matrix& a, const matrix& b, const matrix& c) {
  constexpr int trials = 20;
  random_numbers numbers(1);
  std::vector<double> signs(static_cast<std::size_t>(a.size()));
  // An element of A (B s) is a sum of size^2 numbers below 1; rounding stays far below this, a wrong element far above.
  const double tolerance = 1e-12 * a.size() * a.size() + 1e-12;
  for (int trial = 0; trial < trials; ++trial) {
    for (double& sign : signs) sign = (numbers.next() & 1) != 0 ? 1 : -1;
    const std::vector<double> expected = product(a, product(b, signs));
    const std::vector<double> actual = product(c, signs);
    for (std::size_t i = 0; i < signs.size(); ++i) {
      // Written so that a NaN fails.
      const bool is_close = std::abs(expected[i] - actual[i]) <= tolerance;
      if (!is_close) return false;
    }
  }
  return true;
}

double trace(const matrix& m) {
  double sum = 0;
  for (int i = 0; i < m.size(); ++i) sum += m.row(i)[i];
  return sum;
}

}  // namespace filch::bench
