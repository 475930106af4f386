// floyd_warshall: the lengths of all shortest paths in a dense graph of n vertices, as in the lazy-scheduling paper
// (Tzannes and others 2014, Section 7.3).
//
// The vertices that paths may lead through are added one by one, serially; each time all n x n lengths are lowered in
// parallel, as one loop over rows and columns. Row and column of the new vertex do not change in that step; they are
// copied before it, so that nobody reads what another task writes, be it the same number.
#include <algorithm>
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

constexpr std::uint64_t seed = 1962;
constexpr std::int64_t most_vertices = 8192;
constexpr std::int32_t longest_edge = 100'000;

vm::work cell("floyd_warshall_cell");

// n x n lengths, by rows.
using lengths = std::vector<std::int32_t>;

lengths random_edges(std::size_t n) {
  random_numbers numbers(seed);
  lengths edges(n * n);
  for (std::int32_t& edge : edges) edge = 1 + static_cast<std::int32_t>(numbers.next() % longest_edge);
  for (std::size_t v = 0; v < n; ++v) edges[v * n + v] = 0;
  return edges;
}

// By way of one vertex: `to_it` is the length to there, `from_it` are those from there. Not inlined: every runner gets
// the same code, whatever is around it.
[[gnu::noinline]] void lower(std::int32_t* row, std::size_t size, std::int32_t to_it, const std::int32_t* from_it) {
  vm::touch(row, size * sizeof *row, true);
  cell.done(static_cast<double>(size));
  for (std::size_t i = 0; i < size; ++i) row[i] = std::min(row[i], to_it + from_it[i]);
}

template <class Peer>
void find_shortest(lengths& of, std::size_t n) {
  std::vector<std::int32_t> to_it(n);
  std::vector<std::int32_t> from_it(n);
  for (std::size_t via = 0; via < n; ++via) {
    for (std::size_t row = 0; row < n; ++row) to_it[row] = of[row * n + via];
    std::copy_n(of.data() + via * n, n, from_it.data());
    Peer::for_each_block(
        n, n,
        [n, first = of.data(), to = to_it.data(), from = from_it.data()](
            std::uint64_t row_begin, std::uint64_t row_end, std::uint64_t column_begin, std::uint64_t column_end) {
          for (std::uint64_t row = row_begin; row < row_end; ++row) {
            lower(first + row * n + column_begin, column_end - column_begin, to[row], from + column_begin);
          }
        });
  }
}

// As it stands in books.
lengths shortest_by_definition(lengths of, std::size_t n) {
  for (std::size_t via = 0; via < n; ++via) {
    for (std::size_t row = 0; row < n; ++row) {
      for (std::size_t column = 0; column < n; ++column) {
        of[row * n + column] = std::min(of[row * n + column], of[row * n + via] + of[via * n + column]);
      }
    }
  }
  return of;
}

class floyd_warshall_instance final : public instance {
 public:
  explicit floyd_warshall_instance(std::size_t n) : n_(n) {}

  void prepare() override {
    if (edges_.empty()) edges_ = random_edges(n_);
    lengths_ = edges_;
    vm::touch(lengths_.data(), lengths_.size() * sizeof(std::int32_t), true);
  }

  void run(runner on) override {
    cell.look_up();
    with_peer(on, [&]<class Peer>() { find_shortest<Peer>(lengths_, n_); });
  }

  std::string result() const override {
    return fmt::format("sum {}", std::accumulate(lengths_.begin(), lengths_.end(), std::int64_t{0}));
  }

  bool verify() const override {
    if (expected_.empty()) expected_ = shortest_by_definition(edges_, n_);
    return lengths_ == expected_;
  }

  std::uint64_t tasks() const override { return std::uint64_t{n_} * n_ * n_; }

 private:
  std::size_t n_;
  lengths edges_;             // made when first needed
  mutable lengths expected_;  // likewise
  lengths lengths_;
};

std::unique_ptr<instance> make_floyd_warshall(std::string_view size) {
  const size_context context{"floyd_warshall", size, "1024"};
  return std::make_unique<floyd_warshall_instance>(
      static_cast<std::size_t>(parse_whole(context, size, 2, most_vertices)));
}

}  // namespace

workload floyd_warshall_workload() {
  return {"floyd_warshall",
          "all shortest paths of a dense graph of n vertices, n loops over n x n cells",
          "1024",
          {"256", "512", "1024", "2048"},
          make_floyd_warshall,
          "256"};
}

}  // namespace filch::bench
