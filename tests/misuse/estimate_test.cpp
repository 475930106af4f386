#include "estimate.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace filch::cli {
namespace {

TEST(median, is_the_middle_of_an_odd_number_of_values) { EXPECT_EQ(median(std::vector{5.0, 1.0, 3.0}), 3.0); }

TEST(median, is_the_mean_of_the_two_middle_values_of_an_even_number) {
  EXPECT_EQ(median(std::vector{4.0, 1.0, 2.0, 10.0}), 3.0);
}

TEST(median, of_nothing_is_not_a_number) { EXPECT_TRUE(std::isnan(median({}))); }

TEST(median_interval, of_one_value_is_that_value) {
  const interval found = median_interval(std::vector{2.5});
  EXPECT_EQ(found.low, 2.5);
  EXPECT_EQ(found.high, 2.5);
}

TEST(median_interval, of_nothing_is_not_a_number) {
  EXPECT_TRUE(std::isnan(median_interval({}).low));
  EXPECT_TRUE(std::isnan(median_interval({}).high));
}

TEST(median_interval, is_the_same_for_the_same_values) {
  const std::vector values{1.0, 1.1, 0.9, 1.3, 1.05, 0.95, 1.2};
  EXPECT_EQ(median_interval(values).low, median_interval(values).low);
  EXPECT_EQ(median_interval(values).high, median_interval(values).high);
}

// The order statistics of a sample bound its median with a known probability: for the 101 values 0 to 100 the normal
// approximation of the binomial gives 50 -+ 1.96 * sqrt(101) / 2, that is about 40 to 60.
TEST(median_interval, agrees_with_the_order_statistics) {
  std::vector<double> values;
  for (int i = 0; i <= 100; ++i) {
    values.push_back(i);
  }
  const interval found = median_interval(values);
  EXPECT_NEAR(found.low, 40, 2);
  EXPECT_NEAR(found.high, 60, 2);
}

TEST(median_interval, ignores_one_wild_value) {
  std::vector<double> values(20, 1.0);
  values.push_back(1000.0);
  EXPECT_EQ(median_interval(values).high, 1.0);
}

}  // namespace
}  // namespace filch::cli
