// matching: a maximal matching of an undirected graph, as in the private-deques paper (Acar, Charguéraud, Rainey 2013,
// Section 5), which took it from PBBS.
//
// The serial algorithm looks at the edges in a random order, and takes each whose ends are both free. Here it runs by
// deterministic reservations: an edge reserves both of its ends, the older edge wins, and an edge that holds both is
// taken. The result is that of the serial algorithm.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <filch/vm.hpp>

#include "catalogue.hpp"
#include "counting_peer.hpp"
#include "graph.hpp"
#include "named_graph.hpp"
#include "parse_size.hpp"
#include "speculative_for.hpp"
#include "with_peer.hpp"

namespace filch::bench {
namespace {

constexpr std::uint64_t order_seed = 1;
constexpr std::uint32_t rounds = 10;  // as in PBBS: with larger prefixes more edges try in vain

vm::work attempt("matching_try");

struct problem {
  std::vector<edge> edges;  // the oldest first
  std::uint32_t vertices;
};

// What a search knows of each vertex: whether it is matched, or else the oldest edge that wants it. All atomics are
// relaxed: what a phase reads, the loop before it has written, which orders it; of those who reserve the same vertex at
// the same time, the minimum does not depend on their order.
class matching_step {
 public:
  matching_step(const problem& p, std::vector<std::uint8_t>& taken)
      : edges_(p.edges), wanted_by_(p.vertices), taken_(taken) {
    for (auto& each : wanted_by_) each.store(nobody, std::memory_order_relaxed);
  }

  std::uint8_t reserve(std::uint32_t i) {
    attempt.done();
    fetch(i + far_ahead);
    const auto [from, to] = edges_[i];
    if (at(from).load(std::memory_order_relaxed) == matched || at(to).load(std::memory_order_relaxed) == matched)
      return 0;
    want(from, name_of(i));
    want(to, name_of(i));
    return 1;
  }

  bool commit(std::uint32_t i, std::uint8_t /*reserved*/) {
    const auto [from, to] = edges_[i];
    const bool has_from = at(from).load(std::memory_order_relaxed) == name_of(i);
    const bool has_to = at(to).load(std::memory_order_relaxed) == name_of(i);
    // Whoever has only one end gives it back, for the next round.
    if (has_from) at(from).store(has_to ? matched : nobody, std::memory_order_relaxed);
    if (has_to) at(to).store(has_from ? matched : nobody, std::memory_order_relaxed);
    if (has_from && has_to) taken_[i] = 1;
    return has_from && has_to;
  }

 private:
  // Of a vertex. All that is neither is the name of an edge; older edges have smaller names.
  static constexpr std::uint32_t matched = 0;
  static constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();
  static std::uint32_t name_of(std::uint32_t i) { return i + 1; }

  std::atomic<std::uint32_t>& at(std::uint32_t v) { return wanted_by_[v]; }

  // The ends of an edge are anywhere, and the line of each was most often written by another worker last. So they are
  // asked for a few tries before; nearly all tries are in the order of the edges.
  static constexpr std::uint32_t far_ahead = 8;
  void fetch(std::uint32_t i) const {
    if (i >= edges_.size()) return;
    __builtin_prefetch(&wanted_by_[edges_[i].from]);
    __builtin_prefetch(&wanted_by_[edges_[i].to]);
  }

  void want(std::uint32_t v, std::uint32_t name) {
    std::uint32_t other = at(v).load(std::memory_order_relaxed);
    while (name < other && !at(v).compare_exchange_weak(other, name, std::memory_order_relaxed)) {
    }
  }

  const std::vector<edge>& edges_;
  std::vector<std::atomic<std::uint32_t>> wanted_by_;
  std::vector<std::uint8_t>& taken_;
};

std::vector<std::uint8_t> serial_matching(const problem& p) {
  std::vector<std::uint8_t> taken(p.edges.size());
  std::vector<std::uint8_t> matched(p.vertices);
  for (std::size_t i = 0; i < p.edges.size(); ++i) {
    const auto [from, to] = p.edges[i];
    if (matched[from] == 0 && matched[to] == 0) taken[i] = matched[from] = matched[to] = 1;
  }
  return taken;
}

class matching_instance final : public instance {
 public:
  explicit matching_instance(const named_graph& of) : of_(of) {}

  void prepare() override {
    taken_.assign(input().edges.size(), 0);
    step_.emplace(input(), taken_);
    tries_ = 0;
    vm::touch(input().edges.data(), input().edges.size() * sizeof(edge), true);
  }

  void run(runner on) override {
    attempt.look_up();
    const auto edges = static_cast<std::uint32_t>(input().edges.size());
    tries_ = with_peer(on, [&]<class Peer>() { return speculative_for<Peer>(edges, rounds, *step_); });
  }

  std::string result() const override {
    return fmt::format("{} tries, {} of {} edges", tries_, std::count(taken_.begin(), taken_.end(), 1), taken_.size());
  }

  bool verify() const override {
    if (!expected_) expected_ = serial_matching(input());
    return tries_ >= taken_.size() && taken_ == *expected_;
  }

  // In how many rounds an edge tries depends on the graph, so the iterations are counted.
  std::uint64_t tasks() const override {
    if (!tasks_) {
      std::vector<std::uint8_t> taken(input().edges.size());
      matching_step step(input(), taken);
      tasks_ =
          count_tasks([&] { speculative_for<counting_peer>(static_cast<std::uint32_t>(taken.size()), rounds, step); });
    }
    return *tasks_;
  }

 private:
  // Made when first asked for: sizes that are only named cost nothing.
  const problem& input() const {
    if (!input_) input_ = problem{shuffled_edges(make_graph(of_), order_seed), of_.vertices};
    return *input_;
  }

  named_graph of_;
  mutable std::optional<problem> input_;
  mutable std::optional<std::vector<std::uint8_t>> expected_;
  mutable std::optional<std::uint64_t> tasks_;
  std::vector<std::uint8_t> taken_;  // by edge
  std::optional<matching_step> step_;
  std::uint64_t tries_ = 0;
};

std::unique_ptr<instance> make_matching(std::string_view size) {
  return std::make_unique<matching_instance>(parse_graph({"matching", size, "rlg/1000000"}));
}

}  // namespace

workload matching_workload() {
  return {
      "matching",    "maximal matching by deterministic reservations: a graph and its number of vertices, or file/PATH",
      "rlg/1000000", graph_sizes(),
      make_matching, "rlg/100000"};
}

}  // namespace filch::bench
