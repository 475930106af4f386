#include "matrix.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

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

template <class Number>
std::vector<double> product(const matrix_of<Number>& m, const std::vector<double>& vector) {
  std::vector<double> result(vector.size());
  for (int i = 0; i < m.size(); ++i) {
    const Number* const row = m.row(i);
    for (int j = 0; j < m.size(); ++j) result[i] += static_cast<double>(row[j]) * vector[j];
  }
  return result;
}

// How far an element of A (B s) may be from that of C s: rounding stays far below, a wrong element is far above. With
// doubles it is a sum of size^2 numbers below 1. With floats C has elements of about sqrt(size), and each of the sums
// on the way there is rounded; of the errors, which have either sign, size * size are added.
double tolerance_of(const matrix_of<double>& m) { return 1e-12 * m.size() * m.size() + 1e-12; }
double tolerance_of(const matrix_of<float>& m) {
  constexpr double epsilon = std::numeric_limits<float>::epsilon();
  return epsilon * std::pow(m.size() + 16, 1.5);
}

// Vectors as compilers know them: they make no such registers of plain loops over small arrays of floats.
constexpr std::size_t lanes = 4;
typedef float lanes_of_floats __attribute__((vector_size(lanes * sizeof(float))));  // NOLINT(modernize-use-using)

lanes_of_floats load(const float* from) {
  lanes_of_floats loaded;
  std::memcpy(&loaded, from, sizeof(loaded));
  return loaded;
}

}  // namespace

template <class Number>
matrix_of<Number>::matrix_of(int size) : size_(size) {
  // An odd number of cache lines.
  constexpr std::size_t line = 64 / sizeof(Number);
  const std::size_t lines = (static_cast<std::size_t>(size) + line - 1) / line;
  stride_ = (lines | 1) * line;
  values_.resize(static_cast<std::size_t>(size) * stride_);
}

template <class Number>
void matrix_of<Number>::fill_random(std::uint64_t seed) {
  random_numbers numbers(seed);
  for (Number& value : values_) value = static_cast<Number>(2 * numbers.next_real() - 1);
}

template <class Number>
void matrix_of<Number>::fill(Number value) {
  std::fill(values_.begin(), values_.end(), value);
}

template class matrix_of<float>;
template class matrix_of<double>;

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

void add_product(const float* a, const float* b, float* c, std::size_t stride, int size) {
  constexpr int rows = 4;
  constexpr std::size_t vectors = 2;
  for (std::size_t k = 0; k < static_cast<std::size_t>(size); k += vectors * lanes) {
    for (int i = 0; i < size; i += rows) {
      std::array<std::array<lanes_of_floats, vectors>, rows> sums = {};
      const float* const a_rows = a + static_cast<std::size_t>(i) * stride;
      const float* b_row = b + k;
      for (int j = 0; j < size; ++j, b_row += stride) {
        const std::array<lanes_of_floats, vectors> factors = {load(b_row), load(b_row + lanes)};
        for (int row = 0; row < rows; ++row) {
          const float factor = a_rows[static_cast<std::size_t>(row) * stride + static_cast<std::size_t>(j)];
          for (std::size_t v = 0; v < vectors; ++v) sums[row][v] += factor * factors[v];
        }
      }
      for (int row = 0; row < rows; ++row) {
        float* const to = c + static_cast<std::size_t>(i + row) * stride + k;
        for (std::size_t v = 0; v < vectors; ++v) {
          const lanes_of_floats sum = load(to + v * lanes) + sums[row][v];
          std::memcpy(to + v * lanes, &sum, sizeof(sum));
        }
      }
    }
  }
}

template <class Number>
bool is_product(const matrix_of<Number>& a, const matrix_of<Number>& b, const matrix_of<Number>& c) {
  constexpr int trials = 20;
  random_numbers numbers(1);
  std::vector<double> signs(static_cast<std::size_t>(a.size()));
  const double tolerance = tolerance_of(a);
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

template <class Number>
double trace(const matrix_of<Number>& m) {
  double sum = 0;
  for (int i = 0; i < m.size(); ++i) sum += static_cast<double>(m.row(i)[i]);
  return sum;
}

template bool is_product(const matrix_of<float>&, const matrix_of<float>&, const matrix_of<float>&);
template bool is_product(const matrix_of<double>&, const matrix_of<double>&, const matrix_of<double>&);
template double trace(const matrix_of<float>&);
template double trace(const matrix_of<double>&);

}  // namespace filch::bench
