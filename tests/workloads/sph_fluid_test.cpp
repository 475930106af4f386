// The physics of workload sph, against sums over all pairs in double precision, and against what water does.
#include "sph_fluid.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace filch::bench {
namespace {

template <int Dim>
double distance(const typename sph_fluid<Dim>::vector& a, const typename sph_fluid<Dim>::vector& b) {
  double sum = 0;
  for (std::size_t d = 0; d < Dim; ++d) sum += std::pow(double{a[d]} - b[d], 2);
  return std::sqrt(sum);
}

// The cubic spline as textbooks have it: Monaghan, 'Smoothed Particle Hydrodynamics', 2005, section 2.
template <int Dim>
double kernel(double r, double h) {
  const double q = r / h;
  const double norm = Dim == 2 ? 10 / (7 * std::numbers::pi * h * h) : 1 / (std::numbers::pi * h * h * h);
  if (q < 1) return norm * (1 - 1.5 * q * q + 0.75 * q * q * q);
  return q < 2 ? norm * 0.25 * std::pow(2 - q, 3) : 0;
}

template <int Dim>
void densities_are_those_of_all_pairs(std::size_t count) {
  const sph_fluid<Dim> fluid = collapsing_dam<Dim>(count);
  auto found = fluid.empty_results();
  fluid.compute(found);
  const double h = 1.2 * fluid.spacing();
  const auto& all = fluid.particles();
  ASSERT_EQ(all.size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    double density = 0;
    for (const auto& other : all)
      density += fluid.mass() * kernel<Dim>(distance<Dim>(all[i].position, other.position), h);
    EXPECT_NEAR(found.of[i].density, density, 1e-4 * density);
  }
}

TEST(sph_fluid, densities_are_those_of_all_pairs) {
  densities_are_those_of_all_pairs<2>(700);
  densities_are_those_of_all_pairs<3>(300);
}

// Away from its surface a lattice has the rest density, 1, but for the error of the sum.
template <int Dim>
void a_lattice_has_rest_density(std::size_t count) {
  const sph_fluid<Dim> fluid = standing_dam<Dim>(count);
  auto found = fluid.empty_results();
  fluid.compute(found);
  const float reach = 2.4F * fluid.spacing();
  int inside = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto is_deep = [&](float depth) {
      return std::ranges::all_of(fluid.particles()[i].position, [&](float x) { return x > depth && x < 1 - depth; });
    };
    if (!is_deep(reach)) continue;
    EXPECT_NEAR(found.of[i].density, 1, 0.02);
    if (!is_deep(2 * reach)) continue;
    ++inside;
    // Its neighbours are inside as well, and those on opposite sides push equally.
    for (const float a : found.acceleration[i]) EXPECT_NEAR(a, 0, 0.1);
  }
  EXPECT_GE(inside, 8);
}

TEST(sph_fluid, a_lattice_has_rest_density) {
  a_lattice_has_rest_density<2>(512);
  a_lattice_has_rest_density<3>(3456);
}

template <int Dim>
void forces_cancel_each_other(std::size_t count) {
  const sph_fluid<Dim> fluid = collapsing_dam<Dim>(count);
  auto found = fluid.empty_results();
  fluid.compute(found);
  for (std::size_t d = 0; d < Dim; ++d) {
    double sum = 0;
    double size = 0;
    for (const auto& a : found.acceleration) {
      sum += a[d];
      size += std::abs(a[d]);
    }
    EXPECT_GT(size, 1);
    EXPECT_LT(std::abs(sum), 1e-4 * size);
  }
}

TEST(sph_fluid, forces_cancel_each_other) {
  forces_cancel_each_other<2>(700);
  forces_cancel_each_other<3>(300);
}

template <int Dim>
struct energy {
  double height = 0;  // potential energy per mass
  double motion = 0;
  double front = 0;
  explicit energy(const sph_fluid<Dim>& of) {
    for (const auto& p : of.particles()) {
      height += p.position[1];
      for (const float v : p.velocity) motion += 0.5 * v * v;
      front = std::max(front, double{p.position[0]});
    }
    height /= static_cast<double>(of.particles().size());
    motion /= static_cast<double>(of.particles().size());
  }
};

template <int Dim>
void dam_collapses(std::size_t count) {
  const energy<Dim> before(standing_dam<Dim>(count));
  const energy<Dim> after(collapsing_dam<Dim>(count));
  EXPECT_NEAR(before.height, 1, 0.1);
  EXPECT_LT(after.height, 0.7 * before.height);
  EXPECT_GT(after.motion, 0.05);
  EXPECT_LT(after.height + after.motion, 1.02 * before.height);  // energy gets lost only
  // The front has left the column, and has not reached the other wall. No faster than a fall from the top, sqrt(4).
  EXPECT_GT(after.front, 2);
  EXPECT_LT(after.front, 1 + 2 * 1.6);
}

TEST(sph_fluid, the_dam_collapses) {
  dam_collapses<2>(700);
  dam_collapses<3>(250);
}

TEST(sph_fluid, refined_dams_are_as_dense_as_coarse_ones) {
  const sph_fluid<2> fluid = collapsing_dam<2>(5001);
  ASSERT_EQ(fluid.particles().size(), 5001U);
  auto found = fluid.empty_results();
  fluid.compute(found);
  double sum = 0;
  for (const auto& m : found.of) {
    sum += m.density;
    EXPECT_LT(m.density, 1.6);
  }
  EXPECT_NEAR(sum / 5001, 1, 0.05);
}

TEST(sph_fluid, cells_hold_their_particles_in_the_order_of_the_tree) {
  const sph_fluid<2> fluid = collapsing_dam<2>(700);
  std::uint32_t next = 0;
  for (const std::uint32_t leaf : fluid.leaves()) {
    const auto& cell = fluid.nodes()[leaf];
    EXPECT_EQ(cell.first, next);
    EXPECT_LE(cell.count, sph_fluid<2>::leaf_particles);
    next += cell.count;
    for (std::uint32_t i = cell.first; i < next; ++i) {
      for (std::size_t d = 0; d < 2; ++d) {
        EXPECT_GE(fluid.particles()[i].position[d], cell.corner[d] - 1e-4);
        EXPECT_LE(fluid.particles()[i].position[d], cell.corner[d] + cell.side + 1e-4);
      }
    }
  }
  EXPECT_EQ(next, 700U);
  for (const auto& cell : fluid.nodes()) {
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < cell.children; ++i) sum += fluid.nodes()[cell.first_child + i].count;
    EXPECT_EQ(sum, cell.is_leaf() ? 0 : cell.count);
  }
}

// Any number of particles in one place is a leaf of any size.
TEST(sph_fluid, particles_may_lie_on_each_other) {
  const paged_vector<sph_fluid<2>::particle> all(200, {.position = {1, 1}, .velocity = {}});
  const sph_fluid<2> fluid(all, 0.1F, 20);
  auto found = fluid.empty_results();
  EXPECT_EQ(fluid.compute(found), 2U * 200 * 200);
  for (const auto& a : found.acceleration) EXPECT_EQ(a, (sph_fluid<2>::vector{}));
}

}  // namespace
}  // namespace filch::bench
