// mis: a maximal independent set of the vertices of a graph, as in the private-deques paper (Acar, Charguéraud, Rainey
// 2013, Section 5), which took it from PBBS.
//
// The serial algorithm looks at the vertices in a random order, and takes each that has no neighbour in the set. Here
// it runs in rounds: a vertex is decided once all of its neighbours that come before it are out, or one is in. The
// result is that of the serial algorithm.
#include <algorithm>
#include <cstddef>
#include <cstdint>
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
constexpr std::uint32_t rounds = 20;  // as in PBBS: with larger prefixes more vertices try in vain

vm::work look("mis_edge");

enum class place : std::uint8_t { open, inside, outside };

// The vertices' numbers are their order. Reserving only reads places, and committing only writes its own.
class mis_step {
 public:
  mis_step(const graph& g, std::vector<place>& places) : graph_(g), places_(places) {}

  // One more than the vertex's place, as the others' are known.
  std::uint8_t reserve(std::uint32_t v) const {
    const auto neighbours = graph_.neighbours(v);
    vm::touch(neighbours.data(), neighbours.size_bytes());
    look.done(static_cast<double>(neighbours.size()));
    place mine = place::inside;
    for (const std::uint32_t neighbour : neighbours) {
      if (neighbour > v) continue;
      if (places_[neighbour] == place::inside) return reservation(place::outside);
      if (places_[neighbour] == place::open) mine = place::open;
    }
    return reservation(mine);
  }

  bool commit(std::uint32_t v, std::uint8_t reserved) {
    places_[v] = static_cast<place>(reserved - 1);
    return places_[v] != place::open;
  }

 private:
  static std::uint8_t reservation(place of) { return static_cast<std::uint8_t>(static_cast<int>(of) + 1); }

  const graph& graph_;
  std::vector<place>& places_;
};

// Counts the edges that are looked at, at their ends.
class counting_step {
 public:
  counting_step(const graph& g, std::vector<place>& places) : graph_(g), step_(g, places) {}

  std::uint8_t reserve(std::uint32_t v) {
    looks_ += graph_.neighbours(v).size();
    return step_.reserve(v);
  }
  bool commit(std::uint32_t v, std::uint8_t reserved) { return step_.commit(v, reserved); }
  std::uint64_t looks() const { return looks_; }

 private:
  const graph& graph_;
  mis_step step_;
  std::uint64_t looks_ = 0;
};

std::vector<place> serial_set(const graph& g) {
  std::vector<place> places(g.vertices(), place::open);
  for (std::uint32_t v = 0; v < g.vertices(); ++v) {
    const auto neighbours = g.neighbours(v);
    const bool is_free = std::none_of(neighbours.begin(), neighbours.end(),
                                      [&](std::uint32_t neighbour) { return places[neighbour] == place::inside; });
    places[v] = is_free ? place::inside : place::outside;
  }
  return places;
}

// How much is done in a run, which depends on the graph alone.
struct amount {
  std::uint64_t tasks;
  std::uint64_t looks;
};

amount count(const graph& g) {
  std::vector<place> places(g.vertices(), place::open);
  counting_step step(g, places);
  const std::uint64_t tasks =
      count_tasks([&] { speculative_for<counting_peer>(static_cast<std::uint32_t>(g.vertices()), rounds, step); });
  return {tasks, step.looks()};
}

class mis_instance final : public instance {
 public:
  explicit mis_instance(const named_graph& of) : of_(of) {}

  void prepare() override {
    places_.assign(of_.vertices, place::open);
    input();
  }

  void run(runner on) override {
    look.look_up();
    mis_step step(input(), places_);
    with_peer(on, [&]<class Peer>() { return speculative_for<Peer>(of_.vertices, rounds, step); });
  }

  std::string result() const override {
    return fmt::format("{} looks at edges, {} of {} vertices", counts().looks,
                       std::count(places_.begin(), places_.end(), place::inside), places_.size());
  }

  bool verify() const override {
    if (!expected_) expected_ = serial_set(input());
    return places_ == *expected_;
  }

  std::uint64_t tasks() const override { return counts().tasks; }

 private:
  // Made when first asked for: sizes that are only named cost nothing.
  const graph& input() const {
    if (!input_) input_ = renumbered(make_graph(of_), order_seed);
    return *input_;
  }
  const amount& counts() const {
    if (!counts_) counts_ = count(input());
    return *counts_;
  }

  named_graph of_;
  mutable std::optional<graph> input_;
  mutable std::optional<std::vector<place>> expected_;
  mutable std::optional<amount> counts_;
  std::vector<place> places_;  // by vertex
};

std::unique_ptr<instance> make_mis(std::string_view size) {
  return std::make_unique<mis_instance>(parse_graph({"mis", size, "rlg/2000000"}));
}

}  // namespace

workload mis_workload() {
  return {"mis",         "maximal independent set, greedy in rounds: a graph and its number of vertices, or file/PATH",
          "rlg/2000000", graph_sizes(),
          make_mis,      "rlg/100000"};
}

}  // namespace filch::bench
