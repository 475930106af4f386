// Water as particles: weakly compressible smoothed particle hydrodynamics (SPH), after Becker and Teschner, 'Weakly
// compressible SPH for free surface flows', SCA 2007, in two or three dimensions and single precision.
//
// The density of a particle is a sum over its neighbours, its pressure follows from Tait's equation, and its
// acceleration is a sum over pairs of neighbours: pressure and Monaghan's artificial viscosity. Kernel: the cubic
// spline, smoothing length 1.2 spacings, so that neighbours are nearer than 2.4 spacings. Deviations: densities are
// sums, not integrated in time, as in the samples of FDPS (Iwasawa and others 2016), pressures are not negative, and there
// is no surface tension.
// Units: rest density, gravity and the width of the dam's column are 1.
//
// Particles lie in a tree as in Barnes and Hut's, in its order, so that those of a cell are contiguous. FDPS has leaves
// of at most 8 particles, with which it searches, and groups of at most 64, which share a list of neighbours and are
// what its loop runs over. Here both are one cell, of at most 32: smaller ones search more than they compute, larger ones
// look at many pairs that are too far apart.
//
// Functions that compute leaves may run at the same time, for different leaves.
//
// Invariants
//  1. The sum of a particle has an order that follows from the tree alone, so results have the same bits whoever
//     computes which leaf.
//  2. An interaction of two particles is computed from each side, with opposite signs: nobody writes another's sum.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace filch::bench {

/// Memory that begins a page, so that what shares a block or a page does not depend on the heap's past.
template <class T>
struct page_allocator {
  using value_type = T;
  static constexpr std::align_val_t page{4096};

  page_allocator() = default;
  template <class Other>
  explicit page_allocator(const page_allocator<Other>& /*other*/) noexcept {}
  [[nodiscard]] T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), page)); }
  void deallocate(T* memory, std::size_t /*n*/) noexcept { ::operator delete(memory, page); }
  friend bool operator==(const page_allocator& /*a*/, const page_allocator& /*b*/) noexcept { return true; }
};

template <class T>
using paged_vector = std::vector<T, page_allocator<T>>;

template <int Dim>
class sph_fluid {
 public:
  static constexpr std::uint32_t leaf_particles = 32;
  static constexpr float smoothing_spacings = 1.2F;

  using vector = std::array<float, Dim>;
  struct particle {
    vector position;
    vector velocity;
  };
  struct matter {
    float density;
    float stress;  ///< pressure over the square of the density
  };
  struct box {
    vector low;
    vector high;
  };
  struct node {
    std::uint32_t first;  ///< of its particles
    std::uint32_t count;
    std::uint32_t first_child;  ///< of its children, which are consecutive
    std::uint32_t children;     ///< 0: a leaf
    std::uint32_t leaf;         ///< number of a leaf, in the order of the tree
    box bounds;                 ///< of the particles
    vector corner;              ///< of the cell
    float side;
    [[nodiscard]] bool is_leaf() const { return children == 0; }
  };

  /// `sound`: its speed, ten times that of the fastest flow.
  sph_fluid(paged_vector<particle> particles, float spacing, float sound);

  [[nodiscard]] const paged_vector<particle>& particles() const { return particles_; }
  [[nodiscard]] float spacing() const { return spacing_; }
  [[nodiscard]] float mass() const { return mass_; }
  [[nodiscard]] const std::vector<node>& nodes() const { return nodes_; }
  /// The root, whatever the number of particles.
  [[nodiscard]] const node& root() const { return nodes_.front(); }
  /// All leaves, in the order of the tree.
  [[nodiscard]] const std::vector<std::uint32_t>& leaves() const { return leaves_; }

  /// What a computation of all interactions fills in.
  struct results {
    paged_vector<matter> of;
    paged_vector<vector> acceleration;  ///< by other particles: without gravity and walls
    bool operator==(const results& other) const;
  };
  [[nodiscard]] results empty_results() const;

  /// Densities and pressures of a leaf's particles. Returns the number of pairs that it has looked at.
  std::uint64_t compute_matter(const node& leaf, results& into) const;
  /// Accelerations; what compute_matter gives must be there for all leaves.
  std::uint64_t compute_forces(const node& leaf, results& into) const;
  /// Both, for all leaves, one after the other.
  std::uint64_t compute(results& into) const;

  /// Moves every particle with its velocity after adding acceleration and gravity, inside of walls that take the speed
  /// towards them, and sorts particles into a new tree.
  void move(const results& by, float seconds, const vector& room);
  /// Twice as fine: 2^Dim smaller particles for each, but `count` at most in all. They repel each other for a few steps,
  /// since those of different parents may lie too close.
  void refine(std::size_t count, const vector& room);

 private:
  struct neighbours;
  struct fluid_constants {
    float smoothing;
    float inverse_smoothing;
    float density_factor;
    float force_factor;
    float viscosity;
  };

  void set_spacing(float spacing);
  void build_tree();
  void divide(std::uint32_t index, const std::vector<std::uint64_t>& keys, int bits);
  void clamp(particle& p, const vector& room) const;
  template <class Block>
  std::uint64_t for_neighbours(const node& leaf, const results& known, bool with_matter, const Block& block) const;

  paged_vector<particle> particles_;
  float spacing_ = 0;
  float sound_;
  float mass_ = 0;
  fluid_constants constants_{};
  std::vector<node> nodes_;
  std::vector<std::uint32_t> leaves_;
};

/// The room in which the dam breaks: four columns wide and three high; in three dimensions one deep.
template <int Dim>
constexpr typename sph_fluid<Dim>::vector dam_room() {
  typename sph_fluid<Dim>::vector room{};
  room[0] = 4;
  room[1] = 3;
  if constexpr (Dim == 3) room[2] = 1;
  return room;
}

/// A column of water, one wide and two high, at rest at the left wall.
template <int Dim>
sph_fluid<Dim> standing_dam(std::size_t count);

/// The same in the middle of its collapse. Large ones are refined from the collapse of a small one: that of 2,000
/// particles takes a second, that of 100,000 would take minutes. The same for the same count.
template <int Dim>
sph_fluid<Dim> collapsing_dam(std::size_t count);

/// Leaves the dam alone for so long.
template <int Dim>
void let_collapse(sph_fluid<Dim>& fluid, float seconds);

}  // namespace filch::bench
