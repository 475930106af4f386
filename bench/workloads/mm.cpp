// mm: the product of two square matrices of doubles by definition, as in the lazy-scheduling paper (Tzannes and others
// 2014, Section 7.3): one loop over rows and columns, and each cell is the serial product of a row and a column.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include <filch/vm.hpp>

#include "catalogue.hpp"
#include "matrix.hpp"
#include "parse_size.hpp"
#include "with_peer.hpp"

namespace filch::bench {
namespace {

constexpr std::int64_t largest_size = 8192;

vm::work madd("mm_madd");

// Part of a row of C. Not inlined: every runner gets the same code, whatever is around it.
[[gnu::noinline]] void multiply_row(const matrix& a, const matrix& b, matrix& c, int row, int begin, int end) {
  const double* const left = a.row(row);
  double* const out = c.row(row);
  const auto cells = static_cast<std::size_t>(end - begin);
  vm::touch(left, static_cast<std::size_t>(a.size()) * sizeof *left);
  vm::touch(out + begin, cells * sizeof *out, true);
  madd.done(static_cast<double>(cells) * a.size());
  for (int column = begin; column < end; ++column) {
    const double* right = b.row(0) + column;
    double sum = 0;
    for (int i = 0; i < a.size(); ++i, right += b.stride()) sum += left[i] * *right;
    out[column] = sum;
  }
}

template <class Peer>
void multiply(const matrix& a, const matrix& b, matrix& c) {
  const auto n = static_cast<std::uint64_t>(a.size());
  Peer::for_each_block(
      n, n, [&](std::uint64_t row_begin, std::uint64_t row_end, std::uint64_t column_begin, std::uint64_t column_end) {
        for (std::uint64_t row = row_begin; row < row_end; ++row) {
          multiply_row(a, b, c, static_cast<int>(row), static_cast<int>(column_begin), static_cast<int>(column_end));
        }
      });
}

class mm_instance final : public instance {
 public:
  explicit mm_instance(int size) : a_(size), b_(size), c_(size) {
    a_.fill_random(1);
    b_.fill_random(2);
  }

  void prepare() override { c_.fill(0); }

  void run(runner on) override {
    madd.look_up();
    with_peer(on, [&]<class Peer>() { multiply<Peer>(a_, b_, c_); });
  }

  std::string result() const override { return fmt::format("trace {:.6g}", trace(c_)); }
  bool verify() const override { return is_product(a_, b_, c_); }
  std::uint64_t tasks() const override { return static_cast<std::uint64_t>(c_.size()) * c_.size(); }

 private:
  matrix a_;
  matrix b_;
  matrix c_;
};

std::unique_ptr<instance> make_mm(std::string_view size) {
  const size_context context{"mm", size, "1024"};
  return std::make_unique<mm_instance>(static_cast<int>(parse_whole(context, size, 1, largest_size)));
}

}  // namespace

workload mm_workload() {
  return {"mm",    "product of two n x n matrices by definition, a loop over n x n cells",
          "1024",  {"128", "256", "512", "1024"},
          make_mm, "48"};
}

}  // namespace filch::bench
