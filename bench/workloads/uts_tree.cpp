#include "uts_tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include <fmt/format.h>

#include "parse_size.hpp"

namespace filch::bench {
namespace {

constexpr int most_children = 100;  // of any node but a binomial root

constexpr uts_parameters binomial(double b0, double q, int m, std::uint32_t seed) {
  return {.kind = uts_kind::binomial, .b0 = b0, .seed = seed, .q = q, .m = m};
}

constexpr uts_parameters geometric(uts_shape shape, int depth, double b0, std::uint32_t seed) {
  return {.kind = uts_kind::geometric, .b0 = b0, .seed = seed, .shape = shape, .depth = depth};
}

constexpr uts_parameters hybrid(uts_shape shape, int depth, double b0, std::uint32_t seed, double q, int m) {
  return {.kind = uts_kind::hybrid, .b0 = b0, .seed = seed, .q = q, .m = m, .shape = shape, .depth = depth};
}

// The expected number of children at a depth.
double expected_children(const uts_parameters& p, int depth) {
  if (depth == 0) return p.b0;
  const double ratio = static_cast<double>(depth) / p.depth;
  switch (p.shape) {
    case uts_shape::linear:
      return p.b0 * (1.0 - ratio);
    case uts_shape::exponential:
      return p.b0 * std::pow(depth, -std::log(p.b0) / std::log(p.depth));
    case uts_shape::cyclic:
      return depth > 5 * p.depth ? 0.0 : std::pow(p.b0, std::sin(2.0 * std::numbers::pi * depth / p.depth));
    case uts_shape::fixed:
      break;
  }
  return depth < p.depth ? p.b0 : 0.0;
}

// What the parts of a custom size are called, by kind.
struct grammar {
  std::string_view kind_name;
  uts_kind kind;
  bool has_shape;  // a0 to a3, and d
  bool has_q_and_m;
  std::string_view example;
};

constexpr grammar grammars[] = {
    {"bin", uts_kind::binomial, false, true, "bin/b0=200/q=0.2/m=4/seed=1"},
    {"geo", uts_kind::geometric, true, false, "geo/a3/d=6/b0=4/seed=19"},
    {"hybrid", uts_kind::hybrid, true, true, "hybrid/a0/d=16/b0=6/q=0.23/m=4/seed=1"},
};

std::vector<std::string_view> split_at_slashes(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t slash = text.find('/', begin);
    parts.push_back(text.substr(begin, slash - begin));
    if (slash == std::string_view::npos) return parts;
    begin = slash + 1;
  }
}

// Takes the value of "key=value" out of `parts`; each key must be there exactly once.
std::string_view take_value(const size_context& context, std::vector<std::string_view>& parts, std::string_view key) {
  const auto is_this = [&](std::string_view part) {
    return part.substr(0, key.size()) == key && part.substr(key.size(), 1) == "=";
  };
  const auto found = std::find_if(parts.begin(), parts.end(), is_this);
  if (found == parts.end()) reject_size(context, fmt::format("has no '{}='", key));
  const std::string_view value = found->substr(key.size() + 1);
  parts.erase(found);
  return value;
}

uts_shape take_shape(const size_context& context, std::vector<std::string_view>& parts) {
  constexpr std::string_view names[] = {"a0", "a1", "a2", "a3"};
  const auto found = std::find_first_of(parts.begin(), parts.end(), std::begin(names), std::end(names));
  if (found == parts.end()) {
    reject_size(context, "has no shape (a0 linear, a1 exponential, a2 cyclic, a3 fixed)");
  }
  const auto shape = static_cast<uts_shape>(found->at(1) - '0');
  parts.erase(found);
  return shape;
}

}  // namespace

const std::vector<uts_named_tree>& uts_named_trees() {
  using enum uts_shape;
  static const std::vector<uts_named_tree> trees = {
      {"T1", geometric(fixed, 10, 4, 19), uts_counts{4130071, 3305118, 10}},
      {"T2", geometric(cyclic, 16, 6, 502), uts_counts{4117769, 2342762, 81}},
      {"T3", binomial(2000, 0.124875, 8, 42), uts_counts{4112897, 3599034, 1572}},
      {"T4", hybrid(linear, 16, 6, 1, 0.234375, 4), std::nullopt},
      {"T5", geometric(linear, 20, 4, 34), std::nullopt},
      {"T1L", geometric(fixed, 13, 4, 29), uts_counts{102181082, 81746377, 13}},
      {"T2L", geometric(cyclic, 23, 7, 220), uts_counts{96793510, 53791152, 67}},
      {"T3L", binomial(2000, 0.200014, 5, 7), uts_counts{111345631, 89076904, 17844}},
      {"T1XL", geometric(fixed, 15, 4, 29), uts_counts{1635119272, 1308100063, 15}},
      {"T1WL", geometric(fixed, 18, 4, 19), uts_counts{270751679750, 216601257283, 18}},
      {"T3WL", binomial(2000, 0.4999995, 2, 559), uts_counts{157063495159, 78531748579, 758577}},
  };
  return trees;
}

uts_named_tree find_uts_tree(std::string_view workload, std::string_view size) {
  for (const uts_named_tree& tree : uts_named_trees()) {
    if (tree.name == size) return tree;
  }
  return {size, parse_uts_tree(size, workload), std::nullopt};
}

uts_parameters parse_uts_tree(std::string_view size, std::string_view workload) {
  std::vector<std::string_view> parts = split_at_slashes(size);
  const auto* const found = std::find_if(std::begin(grammars), std::end(grammars),
                                         [&](const grammar& g) { return g.kind_name == parts.front(); });
  if (found == std::end(grammars)) {
    std::string names;
    for (const uts_named_tree& tree : uts_named_trees()) names += fmt::format("{}, ", tree.name);
    reject_size({workload, size, "T1"}, fmt::format("is not a tree ({}bin/..., geo/... or hybrid/...)", names));
  }
  const size_context context{workload, size, found->example};
  parts.erase(parts.begin());

  uts_parameters p;
  p.kind = found->kind;
  constexpr double most_root_children = 1e9;
  p.b0 = parse_real(context, take_value(context, parts, "b0"), 0,
                    p.kind == uts_kind::binomial ? most_root_children : most_children);
  p.seed = static_cast<std::uint32_t>(
      parse_whole(context, take_value(context, parts, "seed"), 0, std::numeric_limits<std::uint32_t>::max()));
  if (found->has_shape) {
    constexpr int deepest = 1'000'000;
    p.shape = take_shape(context, parts);
    // The exponential shape divides by the logarithm of the depth.
    const int shallowest = p.shape == uts_shape::exponential ? 2 : 1;
    p.depth = static_cast<int>(parse_whole(context, take_value(context, parts, "d"), shallowest, deepest));
  }
  if (found->has_q_and_m) {
    p.q = parse_real(context, take_value(context, parts, "q"), 0, 1);
    p.m = static_cast<int>(parse_whole(context, take_value(context, parts, "m"), 0, most_children));
    if (p.q * p.m >= 1)
      reject_size(context, fmt::format("has q*m = {}; from 1 on the tree may be infinite", p.q * p.m));
  }
  if (!parts.empty()) reject_size(context, fmt::format("has the unknown or repeated part '{}'", parts.front()));
  return p;
}

uts_tree::uts_tree(const uts_parameters& parameters)
    : parameters_(parameters), sha1_child_(best_sha1().child), geometric_until_(0) {
  if (parameters.kind == uts_kind::binomial) return;
  // Hybrid trees turn binomial at half of the depth; geometric ones never do.
  geometric_until_ =
      parameters.kind == uts_kind::geometric ? std::numeric_limits<std::int32_t>::max() : (parameters.depth + 1) / 2;
  constexpr int most_kept = 4096;
  const int kept = std::min({geometric_until_, 5 * parameters.depth + 2, most_kept});
  for (int depth = 0; depth < kept; ++depth) log_of_stopping_.push_back(log_of_stopping(depth));
}

// ln(1 - p), where p is the probability that a node at this depth has no further child.
double uts_tree::log_of_stopping(int depth) const {
  const double p = 1.0 / (1.0 + expected_children(parameters_, depth));
  return std::log(1.0 - p);
}

int uts_tree::geometric_children(const uts_node& node) const {
  const auto depth = static_cast<std::size_t>(node.depth);
  const double divisor = depth < log_of_stopping_.size() ? log_of_stopping_[depth] : log_of_stopping(node.depth);
  // No child is expected: p is 1 and its logarithm minus infinity. (A linear tree, below its depth, has none either.)
  if (!(divisor > -std::numeric_limits<double>::infinity())) return 0;
  const double children = std::floor(std::log(1.0 - draw(node)) / divisor);
  return static_cast<int>(std::min<double>(children, most_children));
}

uts_counts count_nodes(const uts_tree& tree) {
  struct open_node {
    uts_node node;
    int children;
    int next_child;
  };
  uts_counts counts;
  std::vector<open_node> path;
  const auto enter = [&](const uts_node& node) {
    const int children = node.children();
    ++counts.nodes;
    if (children == 0) ++counts.leaves;
    counts.depth = std::max(counts.depth, static_cast<std::uint64_t>(node.depth));
    path.push_back({node, children, 0});
  };
  enter(tree.root());
  while (!path.empty()) {
    open_node& top = path.back();
    if (top.next_child == top.children) {
      path.pop_back();
    } else {
      enter(top.node.child(static_cast<std::uint32_t>(top.next_child++)));
    }
  }
  return counts;
}

}  // namespace filch::bench
