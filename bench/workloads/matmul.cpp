// matmul and matmul_square: the product of two square matrices of doubles by divide and conquer, after Cilk.
//
// `matmul` is Cilk's rectangular product (rectmul): the longest of the three dimensions is halved. Halves of the rows
// of A or of the columns of B are independent; halves of the dimension between them add to the same C, so they follow
// each other. `matmul_square` divides all three dimensions at once: four products into the quarters of C, then four
// that are added to them.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <filch/vm.hpp>

#include "catalogue.hpp"
#include "matrix.hpp"
#include "parse_size.hpp"
#include "with_peer.hpp"

namespace filch::bench {
namespace {

constexpr int usual_leaf = 16;  // blocks of at most that many rows and columns are multiplied without forking
constexpr std::int64_t largest_size = 16384;

vm::work madd("matmul_madd");

// Which dimension of an x by y times y by z product is halved.
enum class cut { none, x, y, z };

constexpr cut longest(int x, int y, int z, int leaf) {
  if (x <= leaf && y <= leaf && z <= leaf) return cut::none;
  if (x >= y && x >= z) return cut::x;
  return y > z ? cut::y : cut::z;
}

block_product rows_from(block_product p, int row) {
  p.a += static_cast<std::size_t>(row) * p.stride;
  p.c += static_cast<std::size_t>(row) * p.stride;
  return p;
}

block_product columns_from(block_product p, int column) {
  p.b += column;
  p.c += column;
  return p;
}

block_product terms_from(block_product p, int term) {
  p.a += term;
  p.b += static_cast<std::size_t>(term) * p.stride;
  return p;
}

// One block without forking.
void multiply_leaf(const block_product& p, int x, int y, int z) {
  const auto touch_rows = [&](const double* first, int rows, int columns, bool writes) {
    for (int row = 0; row < rows; ++row) {
      vm::touch(first + static_cast<std::size_t>(row) * p.stride, static_cast<std::size_t>(columns) * sizeof(double),
                writes);
    }
  };
  touch_rows(p.a, x, y, false);
  touch_rows(p.b, y, z, false);
  touch_rows(p.c, x, z, true);
  madd.done(static_cast<double>(x) * y * z);
  multiply_block(p, x, y, z);
}

template <class Peer>
void multiply(const block_product& p, int x, int y, int z, int leaf) {
  switch (longest(x, y, z, leaf)) {
    case cut::none:
      multiply_leaf(p, x, y, z);
      return;
    case cut::x:
      Peer::fork_join([&, half = x / 2] { multiply<Peer>(p, half, y, z, leaf); },
                      [&, half = x / 2] { multiply<Peer>(rows_from(p, half), x - half, y, z, leaf); });
      return;
    case cut::z:
      Peer::fork_join([&, half = z / 2] { multiply<Peer>(p, x, y, half, leaf); },
                      [&, half = z / 2] { multiply<Peer>(columns_from(p, half), x, y, z - half, leaf); });
      return;
    case cut::y:
      break;
  }
  multiply<Peer>(p, x, y / 2, z, leaf);
  block_product rest = terms_from(p, y / 2);
  rest.mode = product_mode::add;
  multiply<Peer>(rest, x, y - y / 2, z, leaf);
}

std::uint64_t count_forks(int x, int y, int z, int leaf) {
  switch (longest(x, y, z, leaf)) {
    case cut::x:
      return 1 + count_forks(x / 2, y, z, leaf) + count_forks(x - x / 2, y, z, leaf);
    case cut::z:
      return 1 + count_forks(x, y, z / 2, leaf) + count_forks(x, y, z - z / 2, leaf);
    case cut::y:
      return count_forks(x, y / 2, z, leaf) + count_forks(x, y - y / 2, z, leaf);
    case cut::none:
      break;
  }
  return 0;
}

// Four products, one for each quarter of C.
template <class Peer, class Product>
void for_quarters(const block_product& p, int half, const Product& product) {
  const block_product lower = rows_from(p, half);
  Peer::fork_join([&] { Peer::fork_join([&] { product(p); }, [&] { product(columns_from(p, half)); }); },
                  [&] { Peer::fork_join([&] { product(lower); }, [&] { product(columns_from(lower, half)); }); });
}

template <class Peer>
void multiply_square(const block_product& p, int size, int leaf) {
  if (size <= leaf) {
    multiply_leaf(p, size, size, size);
    return;
  }
  const int half = size / 2;
  const auto product = [half, leaf](const block_product& quarter) { multiply_square<Peer>(quarter, half, leaf); };
  for_quarters<Peer>(p, half, product);
  block_product rest = terms_from(p, half);
  rest.mode = product_mode::add;
  for_quarters<Peer>(rest, half, product);
}

// Two phases of three forks, and eight products of half the size.
std::uint64_t count_square_forks(int size, int leaf) {
  return size <= leaf ? 0 : 6 + 8 * count_square_forks(size / 2, leaf);
}

enum class division { rectangular, square };

class matmul_instance final : public instance {
 public:
  matmul_instance(int size, int leaf, division by) : by_(by), leaf_(leaf), a_(size), b_(size), c_(size) {
    a_.fill_random(1);
    b_.fill_random(2);
  }

  void prepare() override { c_.fill(0); }

  void run(runner on) override {
    madd.look_up();
    const int size = c_.size();
    const block_product whole{a_.row(0), b_.row(0), c_.row(0), c_.stride(), product_mode::overwrite};
    with_peer(on, [&]<class Peer>() {
      if (by_ == division::rectangular) {
        multiply<Peer>(whole, size, size, size, leaf_);
      } else {
        multiply_square<Peer>(whole, size, leaf_);
      }
    });
  }

  std::string result() const override { return fmt::format("trace {:.6g}", trace(c_)); }
  bool verify() const override { return is_product(a_, b_, c_); }

  std::uint64_t tasks() const override {
    const int size = c_.size();
    return by_ == division::rectangular ? count_forks(size, size, size, leaf_) : count_square_forks(size, leaf_);
  }

 private:
  division by_;
  int leaf_;
  matrix a_;
  matrix b_;
  matrix c_;
};

// "1024" or "1024/128": rows and columns of the matrices, and of the largest blocks that are not divided.
struct matmul_size {
  int n;
  int leaf;
};

matmul_size parse_matmul(const size_context& context) {
  const std::size_t slash = context.size.find('/');
  const auto number = [&](std::string_view text, std::int64_t most) {
    return static_cast<int>(parse_whole(context, text, 1, most));
  };
  if (slash == std::string_view::npos) return {number(context.size, largest_size), usual_leaf};
  return {number(context.size.substr(0, slash), largest_size), number(context.size.substr(slash + 1), largest_size)};
}

std::unique_ptr<instance> make_matmul(std::string_view size) {
  const auto [n, leaf] = parse_matmul({"matmul", size, "1024"});
  return std::make_unique<matmul_instance>(n, leaf, division::rectangular);
}

std::unique_ptr<instance> make_matmul_square(std::string_view size) {
  const size_context context{"matmul_square", size, "1024"};
  const auto [n, leaf] = parse_matmul(context);
  const bool is_power_of_two = (n & (n - 1)) == 0;
  if (!is_power_of_two) reject_size(context, "is not a power of two");
  return std::make_unique<matmul_instance>(n, leaf, division::square);
}

}  // namespace

workload matmul_workload() {
  return {"matmul",    "product of two n x n matrices, the longest dimension halved (n/l: down to l, not 16)",
          "1024",      {"256", "1000", "1024", "2048", "2048/128"},
          make_matmul, "256"};
}

workload matmul_square_workload() {
  return {"matmul_square",
          "product of two n x n matrices by quarters; n a power of two (n/l: down to l, not 16)",
          "1024",
          {"256", "512", "1024", "2048", "2048/128"},
          make_matmul_square,
          "256"};
}

}  // namespace filch::bench
