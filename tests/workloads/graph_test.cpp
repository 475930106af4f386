// Graphs in compressed rows, and the generators of the private-deques paper's graphs.
#include "graph.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "grid_graph.hpp"
#include "named_graph.hpp"
#include "random_local_graph.hpp"
#include "rmat_graph.hpp"

namespace filch::bench {
namespace {

using edge_set = std::set<std::pair<std::uint32_t, std::uint32_t>>;  // each edge in both directions

edge_set edges_of(const graph& g) {
  edge_set all;
  for (std::uint32_t v = 0; v < g.vertices(); ++v) {
    for (const std::uint32_t neighbour : g.neighbours(v)) all.emplace(v, neighbour);
  }
  return all;
}

// In range, no vertex beside itself, no edge twice, and each at both of its ends.
void expect_undirected(const graph& g) {
  const edge_set edges = edges_of(g);
  EXPECT_EQ(edges.size(), g.ends());
  for (const auto& [from, to] : edges) {
    EXPECT_LT(to, g.vertices());
    EXPECT_NE(from, to);
    EXPECT_TRUE(edges.contains({to, from})) << from << ' ' << to;
  }
}

std::vector<std::size_t> degrees(const graph& g) {
  std::vector<std::size_t> all;
  for (std::uint32_t v = 0; v < g.vertices(); ++v) all.push_back(g.neighbours(v).size());
  std::sort(all.begin(), all.end());
  return all;
}

TEST(graph, has_the_edges_that_it_is_made_of_once) {
  const std::vector<edge> edges = {{3, 1}, {1, 3}, {0, 0}, {3, 0}, {2, 3}, {3, 1}, {4, 4}};
  const graph g = graph_of(5, edges);
  ASSERT_EQ(g.vertices(), 5U);
  EXPECT_EQ(edges_of(g), (edge_set{{0, 3}, {3, 0}, {1, 3}, {3, 1}, {2, 3}, {3, 2}}));
  expect_undirected(g);
  EXPECT_TRUE(std::ranges::equal(g.neighbours(3), std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_TRUE(g.neighbours(4).empty());
}

TEST(graph, is_the_same_graph_when_renumbered) {
  const graph g = rmat_graph(100, 400, 1);
  const graph other = renumbered(g, 5);
  expect_undirected(other);
  EXPECT_EQ(degrees(other), degrees(g));
  EXPECT_NE(edges_of(other), edges_of(g));
  EXPECT_EQ(edges_of(other), edges_of(renumbered(g, 5)));
  EXPECT_NE(edges_of(other), edges_of(renumbered(g, 6)));
  // Also the degrees at the ends of edges, which would differ had only the rows been exchanged.
  const auto degrees_at_edges = [](const graph& of) {
    std::multiset<std::pair<std::size_t, std::size_t>> all;
    for (const auto& [from, to] : edges_of(of)) all.emplace(of.neighbours(from).size(), of.neighbours(to).size());
    return all;
  };
  EXPECT_EQ(degrees_at_edges(other), degrees_at_edges(g));
}

TEST(graph, lists_each_edge_once_in_random_order) {
  const graph g = grid_graph(2, 10);
  const std::vector<edge> edges = shuffled_edges(g, 1);
  EXPECT_EQ(edges.size(), g.ends() / 2);
  edge_set both;
  for (const auto& [from, to] : edges) {
    EXPECT_LT(from, to);
    both.emplace(from, to);
    both.emplace(to, from);
  }
  EXPECT_EQ(both, edges_of(g));
  const auto same = [](const edge& a, const edge& b) { return a.from == b.from && a.to == b.to; };
  EXPECT_TRUE(std::ranges::equal(edges, shuffled_edges(g, 1), same));
  EXPECT_FALSE(std::ranges::equal(edges, shuffled_edges(g, 2), same));
  EXPECT_FALSE(std::ranges::is_sorted(edges, {}, &edge::from));
}

TEST(grid_graph, has_two_neighbours_in_each_dimension) {
  for (const int dimensions : {1, 2, 3}) {
    const graph g = grid_graph(dimensions, 5);
    expect_undirected(g);
    for (const std::size_t degree : degrees(g)) EXPECT_EQ(degree, 2U * static_cast<unsigned>(dimensions));
  }
  // By rows: 7 is the third of the second row.
  EXPECT_TRUE(std::ranges::equal(grid_graph(2, 5).neighbours(7), std::vector<std::uint32_t>{2, 6, 8, 12}));
  EXPECT_TRUE(std::ranges::equal(grid_graph(2, 5).neighbours(0), std::vector<std::uint32_t>{1, 4, 5, 20}));
  EXPECT_TRUE(std::ranges::equal(grid_graph(3, 3).neighbours(26), std::vector<std::uint32_t>{8, 17, 20, 23, 24, 25}));
}

TEST(grid_graph, of_a_short_side_has_fewer) {
  EXPECT_EQ(grid_graph(3, 1).vertices(), 1U);
  EXPECT_EQ(grid_graph(3, 1).ends(), 0U);
  const graph square = grid_graph(2, 2);
  expect_undirected(square);
  EXPECT_EQ(degrees(square), std::vector<std::size_t>(4, 2));
}

TEST(random_local_graph, has_mostly_short_edges_and_some_long_ones) {
  constexpr std::uint32_t n = 20'000;
  const graph g = random_local_graph(n, 5, 3);
  expect_undirected(g);
  // Each vertex makes five edges, some of which come twice.
  EXPECT_LE(g.ends(), 2U * 5 * n);
  EXPECT_GT(g.ends(), 7U * n);
  EXPECT_GE(degrees(g).front(), 1U);
  // The chance of a distance of at most x is about (1 - x^-0.2) / (1 - (n / 2)^-0.2): of 32 it is 0.6.
  std::size_t near = 0;
  std::size_t far = 0;
  for (const auto& [from, to] : edges_of(g)) {
    const std::uint32_t between = std::max(from, to) - std::min(from, to);
    const std::uint32_t distance = std::min(between, n - between);
    if (distance <= 32) ++near;
    if (distance > n / 8) ++far;
  }
  EXPECT_GT(near, g.ends() * 45 / 100);
  EXPECT_LT(near, g.ends() * 70 / 100);
  EXPECT_GT(far, g.ends() / 50);
  EXPECT_LT(far, g.ends() / 5);
}

TEST(random_local_graph, may_be_tiny) {
  EXPECT_EQ(random_local_graph(1, 5, 1).ends(), 0U);
  for (const std::uint32_t n : {2, 3, 4}) {
    expect_undirected(random_local_graph(n, 5, 1));
    EXPECT_GE(degrees(random_local_graph(n, 5, 1)).front(), 1U);
  }
}

TEST(rmat_graph, has_vertices_with_very_many_edges) {
  const graph g = rmat_graph(1 << 14, 5 << 14, 3);
  expect_undirected(g);
  const std::vector<std::size_t> sorted = degrees(g);
  EXPECT_GT(sorted.back(), 60U);  // of 9 on average
  EXPECT_EQ(sorted.front(), 0U);
  EXPECT_LE(g.ends(), 2U * (5 << 14));
  EXPECT_GT(g.ends(), 2U * (4 << 14));
  // All quarters of vertex 0 are the likeliest.
  EXPECT_GT(g.neighbours(0).size(), 50U);
}

TEST(rmat_graph, stays_in_range_whatever_the_number_of_vertices) {
  for (const std::uint32_t n : {1, 2, 3, 100, 1025}) {
    const graph g = rmat_graph(n, 5 * n, 7);
    EXPECT_EQ(g.vertices(), n);
    expect_undirected(g);
  }
}

TEST(graphs, depend_on_their_seed_alone) {
  const std::vector<std::function<graph(std::uint64_t)>> generators = {
      [](std::uint64_t seed) { return random_local_graph(500, 5, seed); },
      [](std::uint64_t seed) { return rmat_graph(500, 2500, seed); },
  };
  for (const auto& generate : generators) {
    EXPECT_EQ(edges_of(generate(1)), edges_of(generate(1)));
    EXPECT_NE(edges_of(generate(1)), edges_of(generate(2)));
  }
}

TEST(named_graph, is_what_it_says) {
  const auto made = [](std::string_view size) { return make_graph(parse_graph({"test", size, "rmat/9"})); };
  EXPECT_EQ(edges_of(made("grid2d/49")), edges_of(grid_graph(2, 7)));
  EXPECT_EQ(edges_of(made("grid3d/343")), edges_of(grid_graph(3, 7)));
  EXPECT_EQ(made("rlg/1000").vertices(), 1000U);
  EXPECT_EQ(made("rmat/1000").vertices(), 1000U);
  EXPECT_NE(edges_of(made("rlg/1000")), edges_of(made("rmat/1000")));
  EXPECT_EQ(edges_of(made("rmat/1000")), edges_of(made("rmat/1000")));
}

}  // namespace
}  // namespace filch::bench
