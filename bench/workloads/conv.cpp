// conv: an image of n x n pixels through a filter of 16 x 16, as in the lazy-scheduling paper (Tzannes and others 2014,
// Section 7.3): one loop over rows and columns, and each pixel is a serial sum over the filter.
//
// Whole numbers, so that sums are exact in any order. The image has a border as wide as the filter, so that every pixel
// of the result has all of its terms.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <filch/vm.hpp>

#include "catalogue.hpp"
#include "parse_size.hpp"
#include "random.hpp"
#include "with_peer.hpp"

namespace filch::bench {
namespace {

constexpr std::size_t width = 16;  // of the filter
constexpr std::uint64_t seed = 4096;
constexpr std::int64_t largest_size = 16384;

vm::work madd("conv_madd");

struct problem {
  explicit problem(std::size_t size) : n(size), image((n + width) * stride()), filter(width * width) {
    random_numbers numbers(seed);
    for (std::int16_t& pixel : image) pixel = static_cast<std::int16_t>(numbers.next() % 256);
    for (std::int16_t& weight : filter) weight = static_cast<std::int16_t>(static_cast<int>(numbers.next() % 17) - 8);
  }

  std::size_t stride() const { return n + width; }

  std::size_t n;
  std::vector<std::int16_t> image;
  std::vector<std::int16_t> filter;
};

std::int32_t pixel(const std::int16_t* image, std::size_t stride, const std::int16_t* filter) {
  std::int32_t sum = 0;
  for (std::size_t row = 0; row < width; ++row) {
    for (std::size_t column = 0; column < width; ++column) {
      sum += image[row * stride + column] * filter[row * width + column];
    }
  }
  return sum;
}

// Part of a row. Not inlined: every runner gets the same code, whatever is around it.
[[gnu::noinline]] void convolve_row(const problem& p, std::size_t row, std::size_t begin, std::size_t end,
                                    std::int32_t* out) {
  const std::int16_t* const image = p.image.data() + row * p.stride();
  const std::int16_t* const filter = p.filter.data();
  const std::size_t stride = p.stride();
  vm::touch(image + begin, (end - begin + width) * sizeof *image);
  vm::touch(out + row * p.n + begin, (end - begin) * sizeof *out, true);
  madd.done(static_cast<double>((end - begin) * width * width));
  for (std::size_t column = begin; column < end; ++column) {
    out[row * p.n + column] = pixel(image + column, stride, filter);
  }
}

template <class Peer>
void convolve(const problem& p, std::vector<std::int32_t>& result) {
  Peer::for_each_block(p.n, p.n,
                       [&p, out = result.data()](std::uint64_t row_begin, std::uint64_t row_end,
                                                 std::uint64_t column_begin, std::uint64_t column_end) {
                         for (std::uint64_t row = row_begin; row < row_end; ++row)
                           convolve_row(p, row, column_begin, column_end, out);
                       });
}

// The same sums in another order: one weight after the other for all pixels.
std::vector<std::int32_t> convolved_by_weights(const problem& p) {
  std::vector<std::int32_t> result(p.n * p.n);
  for (std::size_t row = 0; row < p.n; ++row) {
    for (std::size_t i = 0; i < p.filter.size(); ++i) {
      const std::int16_t* const pixels = p.image.data() + (row + i / width) * p.stride() + i % width;
      for (std::size_t column = 0; column < p.n; ++column) result[row * p.n + column] += p.filter[i] * pixels[column];
    }
  }
  return result;
}

class conv_instance final : public instance {
 public:
  explicit conv_instance(std::size_t n) : n_(n) {}

  void prepare() override {
    if (!input_) input_ = std::make_unique<problem>(n_);
    // No pixel of the result has this value: the largest sum is below 16 * 16 * 255 * 8.
    result_.assign(n_ * n_, unset);
    vm::touch(input_->image.data(), input_->image.size() * sizeof(std::int16_t), true);
    vm::touch(result_.data(), result_.size() * sizeof(std::int32_t), true);
  }

  void run(runner on) override {
    madd.look_up();
    with_peer(on, [&]<class Peer>() { convolve<Peer>(*input_, result_); });
  }

  std::string result() const override {
    return fmt::format("sum {}", std::accumulate(result_.begin(), result_.end(), std::int64_t{0}));
  }

  bool verify() const override {
    if (expected_.empty()) expected_ = convolved_by_weights(*input_);
    return result_ == expected_;
  }

  std::uint64_t tasks() const override { return std::uint64_t{n_} * n_; }

 private:
  static constexpr std::int32_t unset = -1'000'000;

  std::size_t n_;
  std::unique_ptr<problem> input_;  // made when first needed: sizes that are only named cost nothing
  std::vector<std::int32_t> result_;
  mutable std::vector<std::int32_t> expected_;
};

std::unique_ptr<instance> make_conv(std::string_view size) {
  const size_context context{"conv", size, "4096"};
  return std::make_unique<conv_instance>(static_cast<std::size_t>(parse_whole(context, size, 1, largest_size)));
}

}  // namespace

workload conv_workload() {
  return {"conv",    "image of n x n pixels through a filter of 16 x 16, a loop over n x n cells",
          "4096",    {"256", "1024", "4096"},
          make_conv, "192"};
}

}  // namespace filch::bench
