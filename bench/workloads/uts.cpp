// uts: Unbalanced Tree Search, the parallel count of an implicit tree whose shape nobody can predict. A node is known
// only by its random state; its children's states are hashes of it. Trees and their rules are in uts_tree.hpp.
//
// A node's children are divided in halves down to single ones, so n children are n - 1 forks, and a child's state is
// computed inside its own task. Frames are kept small: the deep trees have thousands of nodes on one path.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "catalogue.hpp"
#include "stack_space.hpp"
#include "uts_search.hpp"
#include "uts_tree.hpp"
#include "with_peer.hpp"

namespace filch::bench {
namespace {

// The counts of a part of a tree in two words, which functions return in registers. Leaves and depth share one; their
// bits suffice for every named tree.
class partial_counts {
 public:
  static partial_counts of_leaf(const uts_node& leaf) {
    return {1, (static_cast<std::uint64_t>(leaf.depth) << leaf_bits) | 1};
  }

  partial_counts with_parent() const { return {nodes_ + 1, leaves_and_depth_}; }

  friend partial_counts operator+(partial_counts a, partial_counts b) {
    const std::uint64_t deeper = std::max(a.leaves_and_depth_, b.leaves_and_depth_);
    const std::uint64_t leaves = (a.leaves_and_depth_ & leaf_mask) + (b.leaves_and_depth_ & leaf_mask);
    return {a.nodes_ + b.nodes_, (deeper & ~leaf_mask) | leaves};
  }

  uts_counts unpacked() const {
    return {.nodes = nodes_, .leaves = leaves_and_depth_ & leaf_mask, .depth = leaves_and_depth_ >> leaf_bits};
  }

 private:
  static constexpr int leaf_bits = 40;
  static constexpr std::uint64_t leaf_mask = (std::uint64_t{1} << leaf_bits) - 1;

  partial_counts(std::uint64_t nodes, std::uint64_t leaves_and_depth)
      : nodes_(nodes), leaves_and_depth_(leaves_and_depth) {}

  std::uint64_t nodes_;
  std::uint64_t leaves_and_depth_;
};

template <class Peer>
partial_counts search_children(const uts_node& parent, int begin, int end);

template <class Peer>
partial_counts search(const uts_node& node) {
  charge_visit(node);
  const int children = node.children();
  if (children == 0) return partial_counts::of_leaf(node);
  return search_children<Peer>(node, 0, children).with_parent();
}

template <class Peer>
partial_counts search_children(const uts_node& parent, int begin, int end) {
  if (end - begin == 1) return search<Peer>(parent.child(static_cast<std::uint32_t>(begin)));
  const int middle = begin + (end - begin) / 2;
  auto [low, high] = Peer::fork_join([=, &parent] { return search_children<Peer>(parent, begin, middle); },
                                     [=, &parent] { return search_children<Peer>(parent, middle, end); });
  return low + high;
}

// Stack per level of the tree, in an optimised build and rounded up: a level is one call per node and up to three
// per fork on the way to one of eight children. Measured as the least stack with which T3L succeeds.
constexpr std::size_t stack_bytes_per_level(runner on) {
  switch (on) {
    case runner::filch:
      return 650;
    case runner::tbb:
    case runner::tbb_simple:
    case runner::tbb_static:
    case runner::tbb_affinity:
      return 4000;
    case runner::openmp:
    case runner::openmp_static:
    case runner::openmp_dynamic:
    case runner::analysed:
      return 1300;
    case runner::serial:
    case runner::mpi:
      break;
  }
  return 400;
}

class uts_instance final : public uts_search {
 public:
  uts_instance(std::string_view size, const uts_named_tree& of) : uts_search(of), size_(size) {}

  // Every inner node forks one time less than it has children; summed over the tree, that is leaves - 1.
  std::uint64_t tasks() const override { return expected().leaves - 1; }

 private:
  uts_counts search_all(runner on) override {
    require_stack(on);
    return with_peer(on, [&]<class Peer>() { return search<Peer>(tree().root()).unpacked(); });
  }

  // An overflowing stack would end the process without a word.
  void require_stack(runner on) const {
    const std::size_t needed_bytes = expected().depth * stack_bytes_per_level(on);
    const std::size_t remaining_bytes = remaining_stack_bytes();
    if (needed_bytes <= remaining_bytes) return;
    throw std::runtime_error(fmt::format(
        "uts: tree '{}' is {} nodes deep and needs {} KB of stack here, but {} KB are left; run 'ulimit -s {}' first",
        size_, expected().depth, needed_bytes / 1024, remaining_bytes / 1024, needed_bytes / 1024 + 8192));
  }

  std::string size_;
};

std::unique_ptr<instance> make_uts(std::string_view size) {
  return std::make_unique<uts_instance>(size, find_uts_tree("uts", size));
}

}  // namespace

workload uts_workload() {
  std::vector<std::string> sizes;
  for (const uts_named_tree& tree : uts_named_trees()) sizes.emplace_back(tree.name);
  sizes.emplace_back("geo/a3/d=6/b0=4/seed=19");
  sizes.emplace_back("bin/b0=200/q=0.2/m=4/seed=1");
  return {"uts",    "Unbalanced Tree Search: named trees, or bin/..., geo/..., hybrid/... with parameters",
          "T1",     std::move(sizes),
          make_uts, "bin/b0=2000/q=0.1999/m=5/seed=6"};
}

}  // namespace filch::bench
