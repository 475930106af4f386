// The serial product of blocks of every shape, and the check that must notice a wrong product.
#include "matrix.hpp"

#include <gtest/gtest.h>

namespace filch::bench {
namespace {

matrix naive_product(const matrix& a, const matrix& b) {
  matrix c(a.size());
  for (int i = 0; i < a.size(); ++i) {
    for (int k = 0; k < a.size(); ++k) {
      for (int j = 0; j < a.size(); ++j) c.row(i)[k] += a.row(i)[j] * b.row(j)[k];
    }
  }
  return c;
}

class matrix_test : public testing::TestWithParam<int> {
 protected:
  matrix_test() : a_(GetParam()), b_(GetParam()) {
    a_.fill_random(3);
    b_.fill_random(4);
  }

  matrix a_;
  matrix b_;
};

TEST_P(matrix_test, block_product_equals_the_definition) {
  const int n = GetParam();
  matrix c(n);
  c.fill(1);
  multiply_block({a_.row(0), b_.row(0), c.row(0), c.stride(), product_mode::overwrite}, n, n, n);
  multiply_block({a_.row(0), b_.row(0), c.row(0), c.stride(), product_mode::add}, n, n, n);
  const matrix expected = naive_product(a_, b_);
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < n; ++k) EXPECT_NEAR(c.row(i)[k], 2 * expected.row(i)[k], 1e-12);
  }
}

TEST_P(matrix_test, check_accepts_the_product_and_notices_one_wrong_element) {
  matrix c = naive_product(a_, b_);
  EXPECT_TRUE(is_product(a_, b_, c));
  c.row(GetParam() / 2)[GetParam() - 1] += 1e-3;
  EXPECT_FALSE(is_product(a_, b_, c));
}

INSTANTIATE_TEST_SUITE_P(sizes, matrix_test, testing::Values(1, 3, 4, 5, 8, 13, 16, 17));

// In double precision, and so exact beside what is tested.
TEST(float_matrix, sums_of_products_are_those_of_the_definition) {
  for (const int n : {8, 16, 40}) {
    matrix_of<float> a(n);
    matrix_of<float> b(n);
    matrix_of<float> c(n);
    a.fill_random(5);
    b.fill_random(6);
    c.fill(0.5F);
    add_product(a.row(0), b.row(0), c.row(0), c.stride(), n);
    for (int i = 0; i < n; ++i) {
      for (int k = 0; k < n; ++k) {
        double expected = 0.5;
        for (int j = 0; j < n; ++j) expected += static_cast<double>(a.row(i)[j]) * static_cast<double>(b.row(j)[k]);
        EXPECT_NEAR(c.row(i)[k], expected, 1e-5);
      }
    }
  }
}

// Of 256 the tolerance is near what rounding makes, if it is too small.
TEST(float_matrix, check_accepts_the_product_and_notices_one_wrong_element) {
  for (const int n : {8, 64, 256}) {
    matrix_of<float> a(n);
    matrix_of<float> b(n);
    matrix_of<float> c(n);
    a.fill_random(7);
    b.fill_random(8);
    EXPECT_FALSE(is_product(a, b, c));
    add_product(a.row(0), b.row(0), c.row(0), c.stride(), n);
    EXPECT_TRUE(is_product(a, b, c));
    // As if one of its products were missing.
    c.row(n / 2)[n - 1] -= a.row(n / 2)[3] * b.row(3)[n - 1];
    EXPECT_FALSE(is_product(a, b, c));
  }
}

TEST(float_matrix, rows_are_padded_by_a_line) { EXPECT_EQ(matrix_of<float>(2048).stride(), 2048U + 16); }

}  // namespace
}  // namespace filch::bench
