// Trees of Unbalanced Tree Search: published counts, and the limits of a node's children.
#include "uts_tree.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "workload.hpp"

namespace filch::bench {
namespace {

TEST(uts_tree, the_root_of_a_binomial_tree_may_have_more_than_100_children) {
  const uts_tree tree(parse_uts_tree("bin/b0=2000.9/q=0.1/m=4/seed=3"));
  EXPECT_EQ(tree.root().children(), 2000);
}

TEST(uts_tree, no_node_of_a_geometric_tree_has_more_than_100_children) {
  // 100 are expected, so without the limit about every third root would have more.
  int most = 0;
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    const uts_tree tree({.kind = uts_kind::geometric, .b0 = 100, .seed = seed, .depth = 5});
    most = std::max(most, tree.root().children());
  }
  EXPECT_EQ(most, 100);
}

TEST(uts_tree, a_fixed_tree_ends_at_its_depth) {
  const uts_tree tree(parse_uts_tree("geo/a3/d=3/b0=4/seed=19"));
  uts_node node = tree.root();
  node.depth = 3;
  for (std::uint32_t i = 0; i < 100; ++i) {
    uts_node at_limit = node.child(i);
    EXPECT_EQ(at_limit.children(), 0);
  }
}

TEST(uts_tree, a_hybrid_tree_is_binomial_from_half_of_its_depth) {
  const uts_tree tree(parse_uts_tree("hybrid/a0/d=5/b0=6/q=0.1/m=7/seed=1"));
  for (std::uint32_t i = 0; i < 1000; ++i) {
    uts_node node = tree.root().child(i);
    node.depth = 3;
    EXPECT_TRUE(node.children() == 0 || node.children() == 7);
  }
}

TEST(uts_tree, the_parts_of_a_custom_tree_may_come_in_any_order) {
  const uts_parameters p = parse_uts_tree("hybrid/seed=9/m=4/a2/q=0.125/b0=2.5/d=12");
  EXPECT_EQ(p.kind, uts_kind::hybrid);
  EXPECT_EQ(p.shape, uts_shape::cyclic);
  EXPECT_EQ(p.depth, 12);
  EXPECT_EQ(p.b0, 2.5);
  EXPECT_EQ(p.q, 0.125);
  EXPECT_EQ(p.m, 4);
  EXPECT_EQ(p.seed, 9U);
}

// Between them, all rules for the number of children; T4 and T5 have no published counts, so every instance compares
// with a search that does not recurse.
class uts_named_tree_test : public testing::TestWithParam<const char*> {};

TEST_P(uts_named_tree_test, has_the_published_counts) {
  for (const workload& each : workloads()) {
    if (each.name != "uts") continue;
    const auto instance = each.make(GetParam());
    instance->prepare();
    instance->run(runner::serial);
    EXPECT_TRUE(instance->verify()) << instance->result();
  }
}

INSTANTIATE_TEST_SUITE_P(trees, uts_named_tree_test, testing::Values("T1", "T2", "T3", "T4", "T5"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace filch::bench
