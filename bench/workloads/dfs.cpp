// dfs: which vertices of a graph can be reached from vertex 0, each found vertex a task, as in the private-deques paper
// (Acar, Charguéraud, Rainey 2013, Section 6). The paper calls it pseudo-DFS: on one worker it goes deep first, on
// several in whatever order.
//
// Whoever is first to mark a vertex makes a task of it, which looks at its neighbours. The tasks are items of a bag
// that grows while it is processed, so that no stack gets as deep as the search.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <filch/filch.hpp>
#include <filch/vm.hpp>

#include "catalogue.hpp"
#include "graph.hpp"
#include "named_graph.hpp"
#include "parse_size.hpp"
#include "with_peer.hpp"

namespace filch::bench {
namespace {

constexpr std::uint32_t source = 0;

vm::work edge_end("dfs_edge");

// Which vertices have been found. All atomics are relaxed: a vertex is handed on by the bag, and nothing else depends
// on its mark.
class marks {
 public:
  explicit marks(std::size_t vertices) : marked_(vertices) {}

  /// Whether nobody did so before.
  bool mark(std::uint32_t v) {
    if (is_marked(v)) return false;
    vm::touch(&marked_[v], sizeof marked_[v], true);
    return marked_[v].exchange(1, std::memory_order_relaxed) == 0;
  }

  bool is_marked(std::uint32_t v) const { return marked_[v].load(std::memory_order_relaxed) != 0; }

  void clear() {
    for (auto& each : marked_) each.store(0, std::memory_order_relaxed);
  }

 private:
  std::vector<std::atomic<std::uint8_t>> marked_;
};

template <class Peer>
void search(const graph& g, marks& found) {
  found.mark(source);
  Peer::for_each_dynamic(
      source,
      [&](std::uint32_t v, auto&& push) {
        const auto neighbours = g.neighbours(v);
        vm::touch(neighbours.data(), neighbours.size_bytes());
        edge_end.done(static_cast<double>(neighbours.size()));
        for (std::uint32_t neighbour : neighbours) {
          if (found.mark(neighbour)) push(std::move(neighbour));
        }
      },
      sharing{});
}

struct reached_part {
  std::vector<bool> is_reached;  // by vertex
  std::uint64_t vertices = 0;
  std::uint64_t ends = 0;  // of edges
};

// By one stack.
reached_part serial_search(const graph& g) {
  reached_part found{std::vector<bool>(g.vertices())};
  std::vector<std::uint32_t> stack{source};
  found.is_reached[source] = true;
  while (!stack.empty()) {
    const std::uint32_t v = stack.back();
    stack.pop_back();
    ++found.vertices;
    found.ends += g.neighbours(v).size();
    for (const std::uint32_t neighbour : g.neighbours(v)) {
      if (found.is_reached[neighbour]) continue;
      found.is_reached[neighbour] = true;
      stack.push_back(neighbour);
    }
  }
  return found;
}

class dfs_instance final : public instance {
 public:
  explicit dfs_instance(const named_graph& of) : of_(of) {}

  void prepare() override {
    if (!found_) found_.emplace(of_.vertices);
    found_->clear();
    input();
  }

  void run(runner on) override {
    edge_end.look_up();
    with_peer(on, [&]<class Peer>() { search<Peer>(input(), *found_); });
  }

  std::string result() const override {
    std::uint64_t vertices = 0;
    for (std::uint32_t v = 0; v < of_.vertices; ++v) vertices += found_->is_marked(v) ? 1 : 0;
    return fmt::format("{} ends of edges, {} vertices", expected().ends, vertices);
  }

  bool verify() const override {
    for (std::uint32_t v = 0; v < of_.vertices; ++v) {
      if (found_->is_marked(v) != expected().is_reached[v]) return false;
    }
    return true;
  }

  std::uint64_t tasks() const override { return expected().vertices; }

 private:
  // Made when first asked for: sizes that are only named cost nothing.
  const graph& input() const {
    if (!input_) input_ = make_graph(of_);
    return *input_;
  }
  const reached_part& expected() const {
    if (!expected_) expected_ = serial_search(input());
    return *expected_;
  }

  named_graph of_;
  mutable std::optional<graph> input_;
  mutable std::optional<reached_part> expected_;
  std::optional<marks> found_;
};

std::unique_ptr<instance> make_dfs(std::string_view size) {
  return std::make_unique<dfs_instance>(parse_graph({"dfs", size, "rlg/1000000"}));
}

}  // namespace

workload dfs_workload() {
  return {"dfs",         "what can be reached in a graph: a graph and its number of vertices, each of them a task",
          "rlg/1000000", graph_sizes(),
          make_dfs,      "rlg/20000"};
}

}  // namespace filch::bench
