// spmv and spmv_rows: a sparse matrix times a vector, a few times over, as in the lazy-scheduling paper (Tzannes and
// others 2014, Section 7.3).
//
// `spmv` is declarative: the rows in parallel, and each row a reduction over its nonzeros. `spmv_rows` is the version
// coarsened by hand: each row is serial code. Rows have between 1 and 999 nonzeros, 500 on average, as the
// paper's 80,000 rows have, and there are 16 times as many rows as columns. All numbers are small and whole, so that
// sums are exact in any order.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <filch/vm.hpp>

#include "catalogue.hpp"
#include "parse_size.hpp"
#include "random.hpp"
#include "with_peer.hpp"

namespace filch::bench {
namespace {

constexpr std::uint64_t seed = 80'000;
constexpr std::uint64_t longest_row = 999;
constexpr std::uint64_t rows_per_column = 16;
constexpr int products = 20;
constexpr std::int64_t most_rows = 1'000'000;

vm::work nonzero("spmv_nonzero");

// Compressed rows.
struct sparse_matrix {
  std::vector<std::size_t> row_begin;  // one more than there are rows
  std::vector<std::uint32_t> columns;  // of the nonzeros
  std::vector<double> values;

  std::size_t rows() const { return row_begin.size() - 1; }
};

double small_number(random_numbers& numbers) { return static_cast<double>(numbers.next() % 17) - 8; }

sparse_matrix random_matrix(std::uint64_t rows, std::uint64_t columns) {
  random_numbers numbers(seed);
  sparse_matrix m;
  m.row_begin.push_back(0);
  for (std::uint64_t row = 0; row < rows; ++row) {
    m.row_begin.push_back(m.row_begin.back() + 1 + numbers.next() % longest_row);
  }
  m.columns.resize(m.row_begin.back());
  m.values.resize(m.row_begin.back());
  for (std::uint32_t& column : m.columns) column = static_cast<std::uint32_t>(numbers.next() % columns);
  for (double& value : m.values) value = small_number(numbers);
  return m;
}

struct problem {
  sparse_matrix matrix;
  std::vector<double> x;
};

problem make_problem(std::uint64_t rows) {
  const std::uint64_t columns = rows / rows_per_column + 1;
  problem p{random_matrix(rows, columns), std::vector<double>(columns)};
  random_numbers numbers(seed + 1);
  for (double& value : p.x) value = small_number(numbers);
  return p;
}

// One row times x; the row's terms are summed up by Peer.
template <class Peer>
double product(const problem& p, std::uint64_t row) {
  const std::size_t begin = p.matrix.row_begin[row];
  const std::size_t size = p.matrix.row_begin[row + 1] - begin;
  const double* const values = p.matrix.values.data() + begin;
  const std::uint32_t* const columns = p.matrix.columns.data() + begin;
  const double* const x = p.x.data();
  vm::touch(values, size * sizeof *values);
  vm::touch(columns, size * sizeof *columns);
  const auto term = [values, columns, x](std::uint64_t i) {
    nonzero.done();
    return values[i] * x[columns[i]];
  };
  return Peer::reduce(size, 0.0, term, std::plus<>());
}

// y += A x, rows by Peer and the nonzeros of a row by RowPeer.
template <class Peer, class RowPeer>
void add_product(const problem& p, std::vector<double>& y) {
  Peer::for_each_index(y.size(), [&p, y = y.data()](std::uint64_t row) { y[row] += product<RowPeer>(p, row); });
}

enum class rows { reduced, serial };

class spmv_instance final : public instance {
 public:
  spmv_instance(std::uint64_t row_count, rows are) : row_count_(row_count), are_(are) {}

  void prepare() override {
    y_.assign(row_count_, 0.0);
    const sparse_matrix& m = input().matrix;
    vm::touch(m.values.data(), m.values.size() * sizeof(double), true);
    vm::touch(m.columns.data(), m.columns.size() * sizeof(std::uint32_t), true);
  }

  void run(runner on) override {
    nonzero.look_up();
    const problem& p = input();
    with_peer(on, [&]<class Peer>() {
      for (int i = 0; i < products; ++i) {
        if (are_ == rows::reduced) {
          add_product<Peer, Peer>(p, y_);
        } else {
          add_product<Peer, serial_peer>(p, y_);
        }
      }
    });
  }

  std::string result() const override {
    return fmt::format("{} nonzeros, sum {}", products * input().matrix.values.size(),
                       std::accumulate(y_.begin(), y_.end(), 0.0));
  }

  bool verify() const override {
    const sparse_matrix& m = input().matrix;
    const std::vector<double>& x = input().x;
    if (y_.size() != m.rows()) return false;
    for (std::size_t row = 0; row < m.rows(); ++row) {
      double sum = 0;
      for (std::size_t i = m.row_begin[row]; i < m.row_begin[row + 1]; ++i) sum += m.values[i] * x[m.columns[i]];
      if (y_[row] != products * sum) return false;
    }
    return true;
  }

  std::uint64_t tasks() const override {
    const std::uint64_t terms = are_ == rows::reduced ? input().matrix.values.size() : 0;
    return products * (row_count_ + terms);
  }

 private:
  // Made when first asked for: sizes that are only named cost nothing.
  const problem& input() const {
    if (!input_) input_ = make_problem(row_count_);
    return *input_;
  }

  std::uint64_t row_count_;
  rows are_;
  mutable std::optional<problem> input_;
  std::vector<double> y_;
};

workload make_workload(std::string name, std::string summary, rows are) {
  auto make = [name, are](std::string_view size) -> std::unique_ptr<instance> {
    const size_context context{name, size, "20000"};
    return std::make_unique<spmv_instance>(static_cast<std::uint64_t>(parse_whole(context, size, 1, most_rows)), are);
  };
  return {std::move(name), std::move(summary), "20000", {"2000", "20000", "80000"}, std::move(make), "400"};
}

}  // namespace

workload spmv_workload() {
  return make_workload("spmv", "sparse n-row matrix times vector, each row a nested reduction", rows::reduced);
}

workload spmv_rows_workload() {
  return make_workload("spmv_rows", "spmv coarsened by hand: the rows in parallel, each of them serial", rows::serial);
}

}  // namespace filch::bench
