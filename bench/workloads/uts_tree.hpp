// The trees of Unbalanced Tree Search: parameters, names, and the rule by which a node's state gives its number of
// children.
//
// Follows the UTS benchmark (Olivier et al., LCPC 2006) to the letter, so that node counts equal the published ones:
// the arithmetic is in double, with the same functions in the same order.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sha1.hpp"

namespace filch::bench {

/// Which rule gives a node's number of children: at every node (binomial, geometric), or geometric in the upper half
/// of the given depth and binomial below (hybrid).
enum class uts_kind { binomial, geometric, hybrid };

/// How the expected number of children of a geometric tree changes with depth.
enum class uts_shape { linear, exponential, cyclic, fixed };

struct uts_parameters {
  uts_kind kind = uts_kind::binomial;
  double b0 = 0;  ///< (Expected) number of children of the root.
  std::uint32_t seed = 0;
  double q = 0;  ///< Binomial: the probability of having m children rather than none.
  int m = 0;
  uts_shape shape = uts_shape::linear;  ///< Geometric.
  int depth = 0;                        ///< Geometric: the depth that the shape refers to.
};

/// What a traversal counts. The root is at depth 0.
struct uts_counts {
  std::uint64_t nodes = 0;
  std::uint64_t leaves = 0;
  std::uint64_t depth = 0;

  bool operator==(const uts_counts&) const = default;
};

/// One of the trees that the literature names.
struct uts_named_tree {
  std::string_view name;
  uts_parameters parameters;
  std::optional<uts_counts> published;
};

const std::vector<uts_named_tree>& uts_named_trees();

/// The tree that a size names or describes.
/// Throws std::invalid_argument as `parse_uts_tree`.
/// @param workload  whose size it is, for errors.
uts_named_tree find_uts_tree(std::string_view workload, std::string_view size);

/// Reads a custom tree: "bin/b0=200/q=0.2/m=4/seed=1", "geo/a3/d=6/b0=4/seed=19" or
/// "hybrid/a0/d=16/b0=6/q=0.23/m=4/seed=1", the parts behind the kind in any order.
/// Throws std::invalid_argument, one line that names the value, the reason and the remedy.
uts_parameters parse_uts_tree(std::string_view size, std::string_view workload = "uts");

class uts_tree;

/// A node: its random state and its place. It knows its tree so that a task needs to carry one pointer, not two.
struct uts_node {
  sha1_digest state;
  std::int32_t depth;
  const uts_tree* tree;

  int children() const;

  /// Is its number of children found by the geometric rule?
  bool is_geometric() const;

  /// One SHA-1 block.
  uts_node child(std::uint32_t index) const;
};

/// A tree ready to be searched. Immutable, so any number of tasks may use it.
class uts_tree {
 public:
  explicit uts_tree(const uts_parameters& parameters);

  uts_node root() const { return {sha1_root(parameters_.seed), 0, this}; }

 private:
  friend struct uts_node;

  int binomial_children(const uts_node& node) const {
    if (node.depth == 0) return static_cast<int>(parameters_.b0);
    return draw(node) < parameters_.q ? parameters_.m : 0;
  }

  int geometric_children(const uts_node& node) const;
  double log_of_stopping(int depth) const;

  /// The node's number in [0, 1).
  static double draw(const uts_node& node) { return (node.state[4] & 0x7fffffff) / 2147483648.0; }

  uts_parameters parameters_;
  sha1_digest (*sha1_child_)(const sha1_digest&, std::uint32_t);
  std::int32_t geometric_until_;         // nodes above this depth have a geometric number of children
  std::vector<double> log_of_stopping_;  // of the depths that are reached most; others are computed
};

inline bool uts_node::is_geometric() const { return depth < tree->geometric_until_; }

inline int uts_node::children() const {
  return is_geometric() ? tree->geometric_children(*this) : tree->binomial_children(*this);
}

inline uts_node uts_node::child(std::uint32_t index) const {
  return {tree->sha1_child_(state, index), depth + 1, tree};
}

/// Counts without recursion, so for any depth, and without any of the parallel kernels: what trees without published
/// counts are verified against.
uts_counts count_nodes(const uts_tree& tree);

}  // namespace filch::bench
