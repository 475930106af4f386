// Medians and how well they are known.
#pragma once

#include <span>

namespace filch::cli {

/// The middle value, or the mean of the two middle ones. NaN for no values. O(n log n).
double median(std::span<const double> values);

struct interval {
  double low;
  double high;
};

/// The 95 % interval of the median by the percentile bootstrap: 2000 resamples of the same size, drawn with
/// replacement; the interval leaves out the lowest and the highest 2.5 % of their medians. The generator's seed is
/// fixed: the same values give the same interval. NaN for no values.
interval median_interval(std::span<const double> values);

}  // namespace filch::cli
