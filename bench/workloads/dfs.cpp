// dfs, dfs_tasks, dfs_coalesced and dfs_counted: which vertices of a graph can be reached from vertex 0, as in the
// private-deques paper (Acar, Charguéraud, Rainey 2013, Sections 5 and 6). The paper calls it pseudo-DFS: on one worker
// it goes deep first, on several in whatever order. Whoever is first to mark a vertex has to look at its neighbours.
//
// `dfs_tasks` makes a task of each vertex. In `dfs` the vertices are items of a bag that grows while it is processed.
// `dfs_coalesced` is Section 5 of the paper: a task is a vector of vertices, of which it treats so many in a step; a
// split gives half of them. In `dfs_counted` its end is found by counting tasks, as the paper does it. No stack gets as
// deep as the search.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
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

// Long enough to make a step's cost vanish, and short enough for who asks.
constexpr std::size_t vertices_of_a_step = 64;

// Of dfs_tasks: a worker that finds no room on its task stack runs the task at once, to any depth.
constexpr std::uint32_t most_tasks = 1'000'000;

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

  void prefetch(std::uint32_t v) const { __builtin_prefetch(&marked_[v]); }

  bool is_marked(std::uint32_t v) const { return marked_[v].load(std::memory_order_relaxed) != 0; }

  void clear() {
    for (auto& each : marked_) each.store(0, std::memory_order_relaxed);
  }

 private:
  std::vector<std::atomic<std::uint8_t>> marked_;
};

// Calls push(neighbour) for the neighbours of v that nobody has found before.
template <class Push>
void visit(const graph& g, marks& found, std::uint32_t v, Push&& push) {
  const auto neighbours = g.neighbours(v);
  vm::touch(neighbours.data(), neighbours.size_bytes());
  edge_end.done(static_cast<double>(neighbours.size()));
  for (std::uint32_t neighbour : neighbours) {
    if (found.mark(neighbour)) push(std::move(neighbour));
  }
}

// Vertices that have been found and not visited.
class coalesced_search {
 public:
  coalesced_search(const graph& g, marks& found, std::vector<std::uint32_t> open)
      : graph_(&g), found_(&found), open_(std::move(open)) {}

  bool step(std::size_t budget) {
    while (budget != 0 && !open_.empty()) {
      std::array<std::uint32_t, side_by_side> newest;
      const std::size_t count = std::min({budget, open_.size(), newest.size()});
      std::copy_n(open_.end() - static_cast<std::ptrdiff_t>(count), count, newest.begin());
      open_.resize(open_.size() - count);
      visit_all(std::span(newest).first(count));
      budget -= count;
    }
    return !open_.empty();
  }

  // The older half: what lies nearest to the source has most to be found behind it.
  std::optional<coalesced_search> split() {
    if (open_.size() < 2) return std::nullopt;
    const auto middle = open_.begin() + static_cast<std::ptrdiff_t>(open_.size() / 2);
    coalesced_search half(*graph_, *found_, {open_.begin(), middle});
    open_.erase(open_.begin(), middle);
    return half;
  }

  std::size_t size() const { return open_.size(); }

 private:
  // Hardly anything of a large graph is in a cache: what several vertices need is fetched at the same time.
  static constexpr std::size_t side_by_side = 16;

  void visit_all(std::span<const std::uint32_t> vertices) {
    for (const std::uint32_t v : vertices) graph_->prefetch(v);
    for (const std::uint32_t v : vertices) graph_->prefetch_neighbours(v);
    for (const std::uint32_t v : vertices) {
      const auto neighbours = graph_->neighbours(v);
      const auto first = neighbours.first(std::min(neighbours.size(), side_by_side));
      for (const std::uint32_t neighbour : first) found_->prefetch(neighbour);
    }
    for (const std::uint32_t v : vertices) {
      visit(*graph_, *found_, v, [this](std::uint32_t next) { open_.push_back(next); });
    }
  }

  const graph* graph_;
  marks* found_;
  std::vector<std::uint32_t> open_;
};

enum class searching { tasks, bag, coalesced, counted };

template <class Peer>
void search(const graph& g, marks& found, searching how) {
  found.mark(source);
  const auto body = [&](std::uint32_t v, auto&& push) { visit(g, found, v, push); };
  switch (how) {
    case searching::tasks:
      return Peer::for_each_task(source, body);
    case searching::bag:
      return Peer::for_each_dynamic(source, body, sharing{});
    case searching::coalesced:
      return Peer::adaptive(coalesced_search(g, found, {source}), vertices_of_a_step, termination::join);
    case searching::counted:
      return Peer::adaptive(coalesced_search(g, found, {source}), vertices_of_a_step, termination::counted);
  }
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
  dfs_instance(const named_graph& of, searching how) : of_(of), how_(how) {}

  void prepare() override {
    if (!found_) found_.emplace(of_.vertices);
    found_->clear();
    input();
  }

  void run(runner on) override {
    edge_end.look_up();
    with_peer(on, [&]<class Peer>() { search<Peer>(input(), *found_, how_); });
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
  searching how_;
  mutable std::optional<graph> input_;
  mutable std::optional<reached_part> expected_;
  std::optional<marks> found_;
};

workload make_workload(std::string name, std::string summary, searching how) {
  auto make = [name, how](std::string_view size) -> std::unique_ptr<instance> {
    const size_context context{name, size, "rlg/1000000"};
    const named_graph of = parse_graph(context);
    if (how == searching::tasks && of.vertices > most_tasks) {
      reject_size(context,
                  fmt::format("has '{}' vertices, more than the {} that may be tasks", of.vertices, most_tasks));
    }
    return std::make_unique<dfs_instance>(of, how);
  };
  std::vector<std::string> sizes = graph_sizes();
  if (how == searching::tasks) std::erase(sizes, "rlg/2000000");
  return {std::move(name), std::move(summary), "rlg/1000000", std::move(sizes), std::move(make), "rlg/20000"};
}

}  // namespace

workload dfs_workload() {
  return make_workload(
      "dfs", "what can be reached in a graph: a graph and its number of vertices, or file/PATH, the items of a bag",
      searching::bag);
}

workload dfs_tasks_workload() {
  return make_workload("dfs_tasks", "dfs with a task for each vertex", searching::tasks);
}

workload dfs_coalesced_workload() {
  return make_workload("dfs_coalesced", "dfs with vertices coalesced into tasks that are split when somebody asks",
                       searching::coalesced);
}

workload dfs_counted_workload() {
  return make_workload("dfs_counted", "dfs_coalesced, whose workers wait for nothing but count their tasks",
                       searching::counted);
}

}  // namespace filch::bench
