// What check_vectorised.py looks at: loops and sums over bounds of all kinds of integers, in functions of their own.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <filch/filch.hpp>

namespace {

template <class Index>
struct scale_by {
  float* y;
  void operator()(Index i) const { y[i] = y[i] * 0.5F + 1.0F; }
};

template <class Index>
struct scale_part_by {
  float* y;
  void operator()(const filch::blocked_range<Index>& part) const {
    for (Index i = part.begin(); i < part.end(); ++i) y[i] = y[i] * 0.5F + 1.0F;
  }
};

template <class Index>
struct value_by {
  const int* y;
  int operator()(Index i) const { return y[i]; }
};

struct scale {
  void operator()(float& y) const { y = y * 0.5F + 1.0F; }
};

}  // namespace

void run_with_iterators(std::vector<float>& y) { filch::parallel_for(y.begin(), y.end(), scale{}); }

template <class Index>
int run_with(Index n, float* y, const int* z) {
  filch::parallel_for(Index{0}, n, scale_by<Index>{y});
  filch::parallel_for(filch::blocked_range<Index>(0, n), scale_part_by<Index>{y});
  return filch::parallel_reduce(Index{0}, n, 0, value_by<Index>{z});
}

template int run_with(int, float*, const int*);
template int run_with(unsigned, float*, const int*);
template int run_with(long, float*, const int*);
template int run_with(std::size_t, float*, const int*);
template int run_with(short, float*, const int*);
template int run_with(std::uint8_t, float*, const int*);
