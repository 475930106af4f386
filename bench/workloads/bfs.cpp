// bfs: breadth-first search through a random geometric graph, level by level, as in the lazy-scheduling paper (Tzannes
// and others 2014, Section 7.3, whose graph is rgg_n_2_24_s0).
//
// Declarative: the vertices of a level in parallel, and inside of that the neighbours of each, so that a task is one
// edge. Whoever is first to claim a neighbour puts it into the next level. The search begins at a vertex with most
// neighbours; a level has about as many vertices as fit side by side into the square, so levels are many and short.
#include <algorithm>
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

#include <filch/vm.hpp>

#include "catalogue.hpp"
#include "geometric_graph.hpp"
#include "graph.hpp"
#include "named_graph.hpp"
#include "parse_size.hpp"
#include "with_peer.hpp"

namespace filch::bench {
namespace {

constexpr std::int32_t unreached = -1;
constexpr std::uint64_t seed = 24;

vm::work edge("bfs_edge");

// What a search needs; all atomics are relaxed, as a level is read after the loop that made it, which orders it.
struct search {
  std::vector<std::atomic<std::int32_t>> distance;
  std::vector<std::uint32_t> level;
  std::vector<std::uint32_t> next_level;
  std::atomic<std::size_t> next_size{0};

  explicit search(std::size_t vertices) : distance(vertices), level(vertices), next_level(vertices) {}

  bool claim(std::uint32_t v, std::int32_t at) {
    std::int32_t expected = distance[v].load(std::memory_order_relaxed);
    if (expected != unreached) return false;
    vm::touch(&distance[v], sizeof distance[v], true);
    return distance[v].compare_exchange_strong(expected, at, std::memory_order_relaxed);
  }

  void append(std::uint32_t v) {
    vm::touch(&next_size, sizeof next_size, true);
    next_level[next_size.fetch_add(1, std::memory_order_relaxed)] = v;
  }
};

template <class Peer>
void visit_neighbours(const graph& g, search& s, std::uint32_t v, std::int32_t depth) {
  const std::span<const std::uint32_t> neighbours = g.neighbours(v);
  vm::touch(neighbours.data(), neighbours.size_bytes());
  Peer::for_each_index(neighbours.size(), [&s, first = neighbours.data(), depth](std::uint64_t i) {
    edge.done();
    if (s.claim(first[i], depth)) s.append(first[i]);
  });
}

template <class Peer>
void find_distances(const graph& g, search& s, std::uint32_t source) {
  s.claim(source, 0);
  s.level[0] = source;
  std::size_t size = 1;
  for (std::int32_t depth = 1; size != 0; ++depth) {
    s.next_size.store(0, std::memory_order_relaxed);
    Peer::for_each_index(size, [&g, &s, depth](std::uint64_t i) { visit_neighbours<Peer>(g, s, s.level[i], depth); });
    size = s.next_size.load(std::memory_order_relaxed);
    s.level.swap(s.next_level);
  }
}

std::uint32_t vertex_with_most_neighbours(const graph& g) {
  std::uint32_t best = 0;
  for (std::uint32_t v = 0; v < g.vertices(); ++v) {
    if (g.neighbours(v).size() > g.neighbours(best).size()) best = v;
  }
  return best;
}

// Distances by one queue.
std::vector<std::int32_t> distances(const graph& g, std::uint32_t source) {
  std::vector<std::int32_t> distance(g.vertices(), unreached);
  std::vector<std::uint32_t> queue{source};
  distance[source] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const std::uint32_t v : g.neighbours(queue[i])) {
      if (distance[v] != unreached) continue;
      distance[v] = distance[queue[i]] + 1;
      queue.push_back(v);
    }
  }
  return distance;
}

struct problem {
  graph map;
  std::uint32_t source;
  std::vector<std::int32_t> expected;
  std::uint64_t visits = 0;  // of vertices and of their edges
};

// Which graph: one from a file, or a geometric one with so many vertices.
struct given_graph {
  std::uint32_t vertices;
  std::shared_ptr<const graph> from_file;
};

problem make_problem(const given_graph& of) {
  graph map = of.from_file ? *of.from_file : random_geometric_graph(of.vertices, seed);
  const std::uint32_t source = vertex_with_most_neighbours(map);
  std::vector<std::int32_t> expected = distances(map, source);
  problem p{std::move(map), source, std::move(expected)};
  for (std::uint32_t v = 0; v < p.map.vertices(); ++v) {
    if (p.expected[v] != unreached) p.visits += 1 + p.map.neighbours(v).size();
  }
  return p;
}

class bfs_instance final : public instance {
 public:
  explicit bfs_instance(given_graph of) : of_(std::move(of)) {}

  void prepare() override {
    if (!search_) search_ = std::make_unique<search>(of_.vertices);
    for (auto& distance : search_->distance) distance.store(unreached, std::memory_order_relaxed);
    input();
  }

  void run(runner on) override {
    edge.look_up();
    with_peer(on, [&]<class Peer>() { find_distances<Peer>(input().map, *search_, input().source); });
  }

  std::string result() const override {
    std::int32_t farthest = 0;
    std::size_t reached = 0;
    for (const auto& distance : search_->distance) {
      const std::int32_t d = distance.load(std::memory_order_relaxed);
      farthest = std::max(farthest, d);
      if (d != unreached) ++reached;
    }
    return fmt::format("{} edges, {} vertices, depth {}", input().visits - reached, reached, farthest);
  }

  bool verify() const override {
    for (std::size_t v = 0; v < of_.vertices; ++v) {
      if (search_->distance[v].load(std::memory_order_relaxed) != input().expected[v]) return false;
    }
    return true;
  }

  std::uint64_t tasks() const override { return input().visits; }

 private:
  // Made when first asked for: sizes that are only named cost nothing.
  const problem& input() const {
    if (!input_) input_ = make_problem(of_);
    return *input_;
  }

  given_graph of_;
  mutable std::optional<problem> input_;
  std::unique_ptr<search> search_;
};

std::unique_ptr<instance> make_bfs(std::string_view size) {
  const size_context context{"bfs", size, "2000000"};
  if (names_file(size)) {
    const named_graph of = parse_graph(context);
    return std::make_unique<bfs_instance>(given_graph{of.vertices, of.from_file});
  }
  const auto vertices = static_cast<std::uint32_t>(parse_whole(context, size, 1, most_vertices));
  return std::make_unique<bfs_instance>(given_graph{vertices, nullptr});
}

}  // namespace

workload bfs_workload() {
  return {"bfs",     "breadth-first search in a random geometric graph of n vertices (or file/PATH), each edge a task",
          "2000000", {"20000", "200000", "2000000", "16777216"},
          make_bfs,  "20000"};
}

}  // namespace filch::bench
