// sph: the interactions of particles in a breaking dam, as in the ADWS paper (Shiina and Taura 2019, sections 4.1.1 and
// 5.3). sph_fluid.hpp has the physics and the tree.
//
// Timed are the two passes over all leaves that one step of such a simulation has, densities and forces, again and
// again for the same positions: "only the performance of the calculation of particle interactions". Moving particles
// and building the tree are no part of it, and the paper's runs change positions between two iterations only little.
//
// Tasks follow the tree, each hinting at its number of particles, as the program of section 4.1.1 does. "/loop" is what
// FDPS does: an array of the leaves in the order of the tree, and a loop over it, four at a time (schedule(dynamic, 4)).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <filch/vm.hpp>

#include "catalogue.hpp"
#include "parse_size.hpp"
#include "sph_fluid.hpp"
#include "with_peer.hpp"
#include "work_map.hpp"

namespace filch::bench {
namespace {

constexpr std::int64_t most_particles = 10'000'000;
constexpr std::int64_t most_iterations = 100'000;
constexpr std::int64_t usual_iterations = 20;
constexpr std::int64_t untimed_iterations = 5;  // they warm the caches
constexpr std::uint64_t leaves_at_a_time = 4;   // of FDPS
constexpr std::uint64_t passes = 2;

vm::work pair_price("sph_pair");

struct sph_size {
  std::size_t particles = 0;
  std::int64_t iterations = usual_iterations;
  bool is_loop = false;
};

template <int Dim>
class sph_instance final : public instance {
 public:
  explicit sph_instance(const sph_size& size) : size_(size) {}

  void prepare() override {
    make_fluid();
    // One and the same memory in all runs: pages keep their places.
    if (found_.of.empty()) found_ = fluid_->empty_results();
    std::ranges::fill(found_.of, typename fluid::matter{});
    std::ranges::fill(found_.acceleration, typename fluid::vector{});
    if (has_map_) owners_.assign(fluid_->leaves().size(), 0);
  }

  void begin(runner on) override {
    pair_price.look_up();
    iterate(on, untimed_iterations);
  }

  void run(runner on) override {
    pair_price.look_up();
    iterate(on, size_.iterations - untimed_iterations);
  }

  std::string result() const override {
    make_expected();
    return fmt::format("{} pairs, {} particles in {} leaves", pairs_ * timed(), size_.particles,
                       fluid_->leaves().size());
  }

  bool verify() const override {
    make_expected();
    return found_ == *expected_;
  }

  std::uint64_t tasks() const override {
    make_fluid();
    return passes * timed() * (size_.is_loop ? fluid_->leaves().size() : fluid_->nodes().size() - 1);
  }

  bool record_map() override {
    if (Dim != 2) return false;
    has_map_ = true;
    return true;
  }

  work_map recorded_map() const override {
    const auto room = dam_room<Dim>();
    work_map map{.width = room[0], .height = room[1]};
    for (std::size_t i = 0; i < owners_.size(); ++i) {
      const auto& leaf = fluid_->nodes()[fluid_->leaves()[i]];
      map.tiles.push_back({.iteration = static_cast<int>(size_.iterations - 1),
                           .x = leaf.corner[0],
                           .y = leaf.corner[1],
                           .width = leaf.side,
                           .height = leaf.side,
                           .worker = owners_[i]});
    }
    for (const auto& each : fluid_->particles()) map.points.push_back({each.position[0], each.position[1]});
    return map;
  }

 private:
  using fluid = sph_fluid<Dim>;
  using node = typename fluid::node;

  std::uint64_t timed() const { return static_cast<std::uint64_t>(size_.iterations - untimed_iterations); }

  // Made when first asked for: sizes that are only named cost nothing.
  void make_fluid() const {
    if (!fluid_) fluid_.emplace(collapsing_dam<Dim>(size_.particles));
  }

  void make_expected() const {
    if (expected_) return;
    make_fluid();
    expected_.emplace(fluid_->empty_results());
    pairs_ = fluid_->compute(*expected_);
  }

  void iterate(runner on, std::int64_t iterations) {
    with_peer(on, [&]<class Peer>() {
      for (std::int64_t i = 0; i < iterations; ++i) {
        for_leaves<Peer>(
            [this](const node& leaf) { pair_price.done(static_cast<double>(fluid_->compute_matter(leaf, found_))); });
        for_leaves<Peer>([this](const node& leaf) {
          pair_price.done(static_cast<double>(fluid_->compute_forces(leaf, found_)));
          if (has_map_) owners_[leaf.leaf] = std::max(0, this_worker().index);
        });
      }
    });
  }

  template <class Peer, class Body>
  void for_leaves(const Body& body) {
    const std::vector<node>& nodes = fluid_->nodes();
    if (size_.is_loop) {
      const std::vector<std::uint32_t>& leaves = fluid_->leaves();
      Peer::for_each_index(leaves.size(), [&](std::uint64_t i) { body(nodes[leaves[i]]); }, leaves_at_a_time);
    } else {
      for_leaves_below<Peer>(nodes.data(), fluid_->root(), body);
    }
  }

  template <class Peer, class Body>
  static void for_leaves_below(const node* nodes, const node& cell, const Body& body) {
    if (cell.is_leaf()) {
      body(cell);
      return;
    }
    typename Peer::hinted_group all(cell.count);
    for (std::uint32_t i = 0; i < cell.children; ++i) {
      const node& child = nodes[cell.first_child + i];
      all.run([nodes, &child, &body] { for_leaves_below<Peer>(nodes, child, body); }, child.count);
    }
    all.wait();
  }

  sph_size size_;
  mutable std::optional<fluid> fluid_;
  typename fluid::results found_;
  mutable std::optional<typename fluid::results> expected_;
  mutable std::uint64_t pairs_ = 0;  // of an iteration
  bool has_map_ = false;
  std::vector<int> owners_;  // by leaf
};

std::unique_ptr<instance> make_sph(std::string_view size) {
  const size_context context{"sph", size, "2d/35888"};
  constexpr std::string_view iterations = "iterations=";
  const bool is_2d = size.starts_with("2d/");
  if (!is_2d && !size.starts_with("3d/")) reject_size(context, "does not begin with 2d/ or 3d/");
  std::string_view rest = size.substr(3);
  const auto next_part = [&rest] {
    const std::size_t slash = rest.find('/');
    const std::string_view part = rest.substr(0, slash);
    rest = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash);
    return part;
  };
  sph_size chosen;
  chosen.particles = static_cast<std::size_t>(parse_whole(context, next_part(), 1, most_particles));
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string_view part = next_part();
    if (part == "loop") {
      chosen.is_loop = true;
    } else if (part.starts_with(iterations)) {
      chosen.iterations = parse_whole(context, part.substr(iterations.size()), untimed_iterations + 1, most_iterations);
    } else {
      reject_size(context, fmt::format("has '{}', which is none of loop, iterations=", part));
    }
  }
  if (is_2d) return std::make_unique<sph_instance<2>>(chosen);
  return std::make_unique<sph_instance<3>>(chosen);
}

}  // namespace

workload sph_workload() {
  return {
      "sph",
      "interactions of n particles of a breaking dam (SPH); /iterations=K of which the first 5 are not timed; /loop "
      "over the leaves of the tree instead of tasks",
      "2d/35888",
      {"2d/35888", "2d/138968", "3d/182364", "2d/35888/loop", "2d/35888/iterations=100"},
      make_sph,
      "2d/4000"};
}

}  // namespace filch::bench
