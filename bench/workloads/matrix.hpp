// Square matrices for the matrix workloads: storage, blocks, the serial products of small blocks, a check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace filch::bench {

/// A square matrix, stored by rows. Rows are padded, so that a column of a matrix whose size is a power of two does not
/// fall into a single set of the cache.
template <class Number>
class matrix_of {
 public:
  explicit matrix_of(int size);

  int size() const { return size_; }
  std::size_t stride() const { return stride_; }
  Number* row(int i) { return values_.data() + static_cast<std::size_t>(i) * stride_; }
  const Number* row(int i) const { return values_.data() + static_cast<std::size_t>(i) * stride_; }

  /// Fills with numbers in [-1, 1), the same for the same seed.
  void fill_random(std::uint64_t seed);
  void fill(Number value);

 private:
  int size_;
  std::size_t stride_;
  std::vector<Number> values_;
};

extern template class matrix_of<float>;
extern template class matrix_of<double>;
using matrix = matrix_of<double>;

/// Whether the product overwrites C or is added to it.
enum class product_mode { overwrite, add };

/// C = A B or C += A B for one block: A is x by y, B is y by z, all with rows `stride` apart.
struct block_product {
  const double* a;
  const double* b;
  double* c;
  std::size_t stride;
  product_mode mode;
};

/// Serial, in registers; meant for blocks that fit into the first-level cache.
void multiply_block(const block_product& product, int x, int y, int z);

/// C += A B for a block of size x size, a multiple of 8, all with rows `stride` apart. Serial, in vectors of registers.
void add_product(const float* a, const float* b, float* c, std::size_t stride, int size);

/// Whether `c` is `a` times `b`, by Freivalds: both are applied to random vectors of ones and minus ones. A wrong
/// product passes one vector with probability 1/2 at most; here there are 20. Takes O(size^2). For numbers in [-1, 1).
template <class Number>
bool is_product(const matrix_of<Number>& a, const matrix_of<Number>& b, const matrix_of<Number>& c);

/// A number that differs between different matrices, for the eye.
template <class Number>
double trace(const matrix_of<Number>& m);

extern template bool is_product(const matrix_of<float>&, const matrix_of<float>&, const matrix_of<float>&);
extern template bool is_product(const matrix_of<double>&, const matrix_of<double>&, const matrix_of<double>&);
extern template double trace(const matrix_of<float>&);
extern template double trace(const matrix_of<double>&);

}  // namespace filch::bench
