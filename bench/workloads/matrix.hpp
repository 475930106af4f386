// Square matrices of doubles for the matrix workloads: storage, blocks, the serial product of small blocks, a check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace filch::bench {

/// A square matrix, stored by rows. Rows are padded, so that a column of a matrix whose size is a power of two does not
/// fall into a single set of the cache.
class matrix {
 public:
  explicit matrix(int size);

  int size() const { return size_; }
  std::size_t stride() const { return stride_; }
  double* row(int i) { return values_.data() + static_cast<std::size_t>(i) * stride_; }
  const double* row(int i) const { return values_.data() + static_cast<std::size_t>(i) * stride_; }

  /// Fills with numbers in [-1, 1), the same for the same seed.
  void fill_random(std::uint64_t seed);
  void fill(double value);

 private:
  int size_;
  std::size_t stride_;
  std::vector<double> values_;
};

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

/// Whether `c` is `a` times `b`, by Freivalds: both are applied to random vectors of ones and minus ones. A wrong
/// product passes one vector with probability 1/2 at most; here there are 20. Takes O(size^2).
bool is_product(const matrix& a, const matrix& b, const matrix& c);

/// A number that differs between different matrices, for the eye.
double trace(const matrix& m);

}  // namespace filch::bench
