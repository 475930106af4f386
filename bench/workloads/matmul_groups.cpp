// matmul_groups: the product of two square matrices of floats by quarters, in two groups of four products each, after the
// paper on almost deterministic work stealing (Shiina and Taura, SC 2019, sections 4.1.2 and 5.2).
//
// The second group adds to the quarters of C that the first has written, in the same order, so that a scheduler with
// places lets a worker go on with its own quarter. Every product is a quarter of its group's work, as a hint. A result in
// operations per second is 2 n^3 over the time.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
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

constexpr int usual_leaf = 128;  // blocks of that many rows and columns are multiplied without forking
constexpr int least_leaf = 8;
constexpr int largest_size = 16384;

vm::work madd("sgemm_madd");

struct layout {
  std::size_t stride;
  int leaf;
};

void touch_rows(const float* first, std::size_t stride, int size, bool writes) {
  for (int row = 0; row < size; ++row) {
    vm::touch(first + static_cast<std::size_t>(row) * stride, static_cast<std::size_t>(size) * sizeof(float), writes);
  }
}

// C += A B, all size x size. Small enough to be kept in the task with its place.
struct block_sum {
  const layout* of;
  const float* a;
  const float* b;
  float* c;
  int size;
};

void add_leaf(const block_sum& p) {
  touch_rows(p.a, p.of->stride, p.size, false);
  touch_rows(p.b, p.of->stride, p.size, false);
  touch_rows(p.c, p.of->stride, p.size, true);
  madd.done(static_cast<double>(p.size) * p.size * p.size);
  add_product(p.a, p.b, p.c, p.of->stride, p.size);
}

template <class Peer>
void add_products(const block_sum& p) {
  if (p.size <= p.of->leaf) {
    add_leaf(p);
    return;
  }
  const int half = p.size / 2;
  const std::size_t lower = static_cast<std::size_t>(half) * p.of->stride;
  // With the columns of A that are rows of B.
  const auto add_terms = [&](const float* a, const float* b) {
    typename Peer::hinted_group quarters(4);
    const auto add = [&](std::size_t row, int column) {
      const block_sum quarter{p.of, a + row, b + column, p.c + row + column, half};
      quarters.run([quarter] { add_products<Peer>(quarter); }, 1);
    };
    add(0, 0);
    add(lower, 0);
    add(0, half);
    add(lower, half);
    quarters.wait();
  };
  add_terms(p.a, p.b);
  add_terms(p.a + half, p.b + lower);
}

// Two groups of four, and eight products of half the size.
std::uint64_t count_tasks_of(int size, int leaf) { return size <= leaf ? 0 : 8 + 8 * count_tasks_of(size / 2, leaf); }

class matmul_groups_instance final : public instance {
 public:
  matmul_groups_instance(int size, int leaf) : size_(size), leaf_(leaf) {}

  void prepare() override {
    if (!c_) {
      a_.emplace(size_).fill_random(1);
      b_.emplace(size_).fill_random(2);
      c_.emplace(size_);
    }
    c_->fill(0);
    for (matrix_of<float>* const each : {&*a_, &*b_, &*c_}) touch_rows(each->row(0), each->stride(), size_, true);
  }

  void run(runner on) override {
    madd.look_up();
    const layout of{c_->stride(), leaf_};
    const block_sum whole{&of, a_->row(0), b_->row(0), c_->row(0), size_};
    with_peer(on, [&]<class Peer>() { add_products<Peer>(whole); });
  }

  std::string result() const override { return fmt::format("trace {:.4g}", trace(*c_)); }
  bool verify() const override { return is_product(*a_, *b_, *c_); }
  std::uint64_t tasks() const override { return count_tasks_of(size_, leaf_); }

 private:
  int size_;
  int leaf_;
  // Made when they are wanted: they may be large.
  std::optional<matrix_of<float>> a_;
  std::optional<matrix_of<float>> b_;
  std::optional<matrix_of<float>> c_;
};

// "1024" or "1024/64": rows and columns of the matrices, and of the blocks that are not divided.
std::unique_ptr<instance> make_matmul_groups(std::string_view size) {
  const size_context context{"matmul_groups", size, "1024"};
  const auto power_of_two = [&](std::string_view text, int least) {
    const std::int64_t number = parse_whole(context, text, least, largest_size);
    if (!std::has_single_bit(static_cast<std::uint64_t>(number))) {
      reject_size(context, fmt::format("has '{}', which is not a power of two", text));
    }
    return static_cast<int>(number);
  };
  const std::size_t slash = size.find('/');
  if (slash == std::string_view::npos) {
    return std::make_unique<matmul_groups_instance>(power_of_two(size, usual_leaf), usual_leaf);
  }
  const int leaf = power_of_two(size.substr(slash + 1), least_leaf);
  return std::make_unique<matmul_groups_instance>(power_of_two(size.substr(0, slash), leaf), leaf);
}

}  // namespace

workload matmul_groups_workload() {
  return {
      "matmul_groups",
      "product of two n x n matrices of floats by quarters, in groups with hints; n a power of two (n/l: down to l, "
      "not 128)",
      "2048",
      {"1024", "2048", "4096", "8192", "2048/64"},
      make_matmul_groups,
      "1024"};
}

}  // namespace filch::bench
