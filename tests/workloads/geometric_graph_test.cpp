// Random geometric graphs: exactly the edges that the definition asks for, however they are found.
#include "geometric_graph.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace filch::bench {
namespace {

bool has_edge(const graph& g, std::uint32_t from, std::uint32_t to) {
  const auto list = g.neighbours(from);
  return std::find(list.begin(), list.end(), to) != list.end();
}

TEST(geometric_graph, has_each_edge_at_both_ends_and_once) {
  const graph g = random_geometric_graph(700, 3);
  ASSERT_EQ(g.vertices(), 700U);
  std::size_t ends = 0;
  for (std::uint32_t v = 0; v < g.vertices(); ++v) {
    std::vector<std::uint32_t> list(g.neighbours(v).begin(), g.neighbours(v).end());
    ends += list.size();
    std::sort(list.begin(), list.end());
    EXPECT_EQ(std::adjacent_find(list.begin(), list.end()), list.end()) << v;
    for (const std::uint32_t other : list) {
      EXPECT_NE(other, v);
      EXPECT_TRUE(has_edge(g, other, v)) << v << ' ' << other;
    }
  }
  EXPECT_EQ(g.ends(), ends);
}

// Away from the border a vertex has pi r^2 n = 0.55^2 pi ln n neighbours on average; at the border fewer.
TEST(geometric_graph, has_as_many_edges_as_expected) {
  const double n = 20'000;
  const graph g = random_geometric_graph(20'000, 5);
  const double expected = 0.55 * 0.55 * 3.14159265 * std::log(n);
  const double mean = static_cast<double>(g.ends()) / n;
  EXPECT_LT(mean, expected);
  EXPECT_GT(mean, 0.95 * expected);
}

TEST(geometric_graph, depends_on_its_seed_alone) {
  const graph a = random_geometric_graph(300, 1);
  const graph same = random_geometric_graph(300, 1);
  const graph other = random_geometric_graph(300, 2);
  const auto differ = [&](const graph& b) {
    for (std::uint32_t v = 0; v < 300; ++v) {
      if (!std::ranges::equal(a.neighbours(v), b.neighbours(v))) return true;
    }
    return false;
  };
  EXPECT_FALSE(differ(same));
  EXPECT_TRUE(differ(other));
}

TEST(geometric_graph, may_have_one_vertex) {
  EXPECT_EQ(random_geometric_graph(1, 1).vertices(), 1U);
  EXPECT_EQ(random_geometric_graph(1, 1).ends(), 0U);
}

}  // namespace
}  // namespace filch::bench
