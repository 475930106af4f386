#include "sph_fluid.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <numeric>
#include <utility>

#include <filch/vm.hpp>

namespace filch::bench {
namespace {

constexpr float column_height = 2;
constexpr float sound_speed = 20;  // ten times that of a fall from the top, 2
constexpr float artificial_viscosity = 0.1F;
constexpr float middle_of_collapse = 1.6F;
constexpr std::size_t most_coarse = 3000;  // particles whose collapse is simulated step by step
constexpr int key_bits = 16;               // levels of the tree

// The bits of `cell` with Dim - 1 bits between them.
template <int Dim>
std::uint64_t spread(std::uint32_t cell) {
  std::uint64_t key = 0;
  for (int bit = 0; bit < key_bits; ++bit) key |= std::uint64_t{(cell >> bit) & 1U} << (bit * Dim);
  return key;
}

// Without a branch, so that loops with it become vector instructions.
inline float or_zero(float x) { return x > 0 ? x : 0; }

template <int Dim>
float distance_squared(const std::array<float, Dim>& p, const typename sph_fluid<Dim>::box& to) {
  float sum = 0;
  for (std::size_t d = 0; d < Dim; ++d) {
    const float out = std::max({to.low[d] - p[d], p[d] - to.high[d], 0.0F});
    sum += out * out;
  }
  return sum;
}

template <int Dim>
float distance_squared(const typename sph_fluid<Dim>::box& a, const typename sph_fluid<Dim>::box& b) {
  float sum = 0;
  for (std::size_t d = 0; d < Dim; ++d) {
    const float out = std::max({a.low[d] - b.high[d], b.low[d] - a.high[d], 0.0F});
    sum += out * out;
  }
  return sum;
}

}  // namespace

// Some neighbours of a leaf, one array for each number of theirs, as vector instructions want them.
template <int Dim>
struct sph_fluid<Dim>::neighbours {
  static constexpr std::size_t most = 128;
  std::size_t count = 0;
  alignas(64) float position[Dim][most];
  alignas(64) float velocity[Dim][most];
  alignas(64) float density[most];
  alignas(64) float stress[most];
};

template <int Dim>
bool sph_fluid<Dim>::results::operator==(const results& other) const {
  // Bit by bit.
  const auto same = [](const auto& a, const auto& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(a[0])) == 0);
  };
  return same(of, other.of) && same(acceleration, other.acceleration);
}

template <int Dim>
sph_fluid<Dim>::sph_fluid(paged_vector<particle> particles, float spacing, float sound)
    : particles_(std::move(particles)), sound_(sound) {
  set_spacing(spacing);
  build_tree();
}

template <int Dim>
void sph_fluid<Dim>::set_spacing(float spacing) {
  constexpr float pi = std::numbers::pi_v<float>;
  spacing_ = spacing;
  mass_ = std::pow(spacing, static_cast<float>(Dim));
  const float h = smoothing_spacings * spacing;
  // The kernel is norm * ((2 - q)^3 / 4 - (1 - q)^3), q = r / h, each term where it is positive.
  const float norm = Dim == 2 ? 10 / (7 * pi * h * h) : 1 / (pi * h * h * h);
  constants_ = {.smoothing = h,
                .inverse_smoothing = 1 / h,
                .density_factor = mass_ * norm,
                .force_factor = mass_ * norm / h,
                .viscosity = artificial_viscosity * h * sound_};
}

template <int Dim>
void sph_fluid<Dim>::build_tree() {
  const std::size_t n = particles_.size();
  box all{particles_.front().position, particles_.front().position};
  for (const particle& p : particles_) {
    for (std::size_t d = 0; d < Dim; ++d) {
      all.low[d] = std::min(all.low[d], p.position[d]);
      all.high[d] = std::max(all.high[d], p.position[d]);
    }
  }
  float side = spacing_;
  for (std::size_t d = 0; d < Dim; ++d) side = std::max(side, all.high[d] - all.low[d]);
  constexpr float cells = 1 << key_bits;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> order(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    std::uint64_t key = 0;
    for (std::size_t d = 0; d < Dim; ++d) {
      const float cell = (particles_[i].position[d] - all.low[d]) / side * cells;
      key |= spread<Dim>(static_cast<std::uint32_t>(std::min(cell, cells - 1))) << d;
    }
    order[i] = {key, i};
  }
  std::ranges::sort(order);
  paged_vector<particle> sorted(n);
  std::vector<std::uint64_t> keys(n);
  for (std::size_t i = 0; i < n; ++i) {
    keys[i] = order[i].first;
    sorted[i] = particles_[order[i].second];
  }
  particles_ = std::move(sorted);
  nodes_.clear();
  leaves_.clear();
  nodes_.push_back({.first = 0,
                    .count = static_cast<std::uint32_t>(n),
                    .first_child = 0,
                    .children = 0,
                    .leaf = 0,
                    .bounds = all,
                    .corner = all.low,
                    .side = side});
  divide(0, keys, key_bits);
}

template <int Dim>
void sph_fluid<Dim>::divide(std::uint32_t index, const std::vector<std::uint64_t>& keys, int bits) {
  const node whole = nodes_[index];
  if (whole.count <= leaf_particles || bits == 0) {
    nodes_[index].leaf = static_cast<std::uint32_t>(leaves_.size());
    leaves_.push_back(index);
  } else {
    const auto first_child = static_cast<std::uint32_t>(nodes_.size());
    const int shift = (bits - 1) * Dim;
    constexpr std::uint64_t all_children = (1U << Dim) - 1;
    std::uint32_t first = whole.first;
    const std::uint32_t end = whole.first + whole.count;
    while (first < end) {
      const std::uint64_t which = (keys[first] >> shift) & all_children;
      std::uint32_t last = first;
      while (last < end && ((keys[last] >> shift) & all_children) == which) ++last;
      node child{.first = first,
                 .count = last - first,
                 .first_child = 0,
                 .children = 0,
                 .leaf = 0,
                 .bounds = {},
                 .corner = whole.corner,
                 .side = whole.side / 2};
      for (std::size_t d = 0; d < Dim; ++d) {
        if (((which >> d) & 1U) != 0) child.corner[d] += child.side;
      }
      nodes_.push_back(child);
      first = last;
    }
    const auto children = static_cast<std::uint32_t>(nodes_.size()) - first_child;
    nodes_[index].first_child = first_child;
    nodes_[index].children = children;
    for (std::uint32_t i = 0; i < children; ++i) divide(first_child + i, keys, bits - 1);
  }
  box& bounds = nodes_[index].bounds;
  bounds = {particles_[whole.first].position, particles_[whole.first].position};
  for (std::uint32_t i = whole.first; i < whole.first + whole.count; ++i) {
    for (std::size_t d = 0; d < Dim; ++d) {
      bounds.low[d] = std::min(bounds.low[d], particles_[i].position[d]);
      bounds.high[d] = std::max(bounds.high[d], particles_[i].position[d]);
    }
  }
}

template <int Dim>
typename sph_fluid<Dim>::results sph_fluid<Dim>::empty_results() const {
  return {paged_vector<matter>(particles_.size()), paged_vector<vector>(particles_.size())};
}

// Calls block(neighbours) with all particles that may be near one of the leaf, some at a time.
template <int Dim>
template <class Block>
std::uint64_t sph_fluid<Dim>::for_neighbours(const node& leaf, const results& known, bool with_matter,
                                             const Block& block) const {
  const float radius = 2 * constants_.smoothing;
  const float radius_squared = radius * radius;
  neighbours near;
  std::uint64_t found = 0;
  const auto finish_block = [&] {
    block(near);
    found += near.count;
    near.count = 0;
  };
  const auto add_particles = [&](std::uint32_t first, std::uint32_t end) {
    vm::touch(&particles_[first], (end - first) * sizeof(particle));
    if (with_matter) vm::touch(&known.of[first], (end - first) * sizeof(matter));
    for (std::uint32_t j = first; j < end; ++j) {
      const particle& p = particles_[j];
      if (distance_squared<Dim>(p.position, leaf.bounds) > radius_squared) continue;
      const std::size_t k = near.count++;
      for (std::size_t d = 0; d < Dim; ++d) near.position[d][k] = p.position[d];
      if (with_matter) {
        for (std::size_t d = 0; d < Dim; ++d) near.velocity[d][k] = p.velocity[d];
        near.density[k] = known.of[j].density;
        near.stress[k] = known.of[j].stress;
      }
      if (near.count == neighbours::most) finish_block();
    }
  };
  // Cells that follow each other in the tree follow each other in memory: they are one range.
  std::uint32_t first = 0;
  std::uint32_t end = 0;
  std::array<std::uint32_t, std::size_t{key_bits} << Dim> open;
  std::size_t open_count = 0;
  open[open_count++] = 0;
  while (open_count > 0) {
    const node& each = nodes_[open[--open_count]];
    if (distance_squared<Dim>(each.bounds, leaf.bounds) > radius_squared) continue;
    if (!each.is_leaf()) {
      for (std::uint32_t i = each.children; i > 0; --i) open[open_count++] = each.first_child + i - 1;
      continue;
    }
    if (each.first != end) {
      if (end > first) add_particles(first, end);
      first = each.first;
    }
    end = each.first + each.count;
  }
  if (end > first) add_particles(first, end);
  if (near.count > 0) finish_block();
  return found * leaf.count;
}

template <int Dim>
std::uint64_t sph_fluid<Dim>::compute_matter(const node& leaf, results& into) const {
  for (std::uint32_t i = leaf.first; i < leaf.first + leaf.count; ++i) into.of[i].density = 0;
  const std::uint64_t pairs = for_neighbours(leaf, into, false, [&](const neighbours& near) {
    const float inverse_h = constants_.inverse_smoothing;
    for (std::uint32_t i = leaf.first; i < leaf.first + leaf.count; ++i) {
      const vector at = particles_[i].position;
      float sum = 0;
#pragma omp simd reduction(+ : sum)
      for (std::size_t j = 0; j < near.count; ++j) {
        float r2 = 0;
        for (std::size_t d = 0; d < Dim; ++d) {
          const float x = at[d] - near.position[d][j];
          r2 += x * x;
        }
        const float q = std::sqrt(r2) * inverse_h;
        const float outer = or_zero(2 - q);
        const float inner = or_zero(1 - q);
        sum += 0.25F * (outer * outer * outer) - inner * inner * inner;
      }
      into.of[i].density += sum;
    }
  });
  for (std::uint32_t i = leaf.first; i < leaf.first + leaf.count; ++i) {
    matter& m = into.of[i];
    m.density *= constants_.density_factor;
    // Tait's equation with exponent 7. At the surface, where neighbours are missing, it would pull particles together.
    const float square = m.density * m.density;
    const float pressure = or_zero(sound_ * sound_ / 7 * (square * square * square * m.density - 1));
    m.stress = pressure / square;
  }
  vm::touch(&into.of[leaf.first], leaf.count * sizeof(matter), true);
  return pairs;
}

template <int Dim>
std::uint64_t sph_fluid<Dim>::compute_forces(const node& leaf, results& into) const {
  for (std::uint32_t i = leaf.first; i < leaf.first + leaf.count; ++i) into.acceleration[i] = {};
  const std::uint64_t pairs = for_neighbours(leaf, into, true, [&](const neighbours& near) {
    const fluid_constants c = constants_;
    const float inverse_h = c.inverse_smoothing;
    const float not_zero = 0.01F * c.smoothing * c.smoothing;
    for (std::uint32_t i = leaf.first; i < leaf.first + leaf.count; ++i) {
      const particle me = particles_[i];
      const matter mine = into.of[i];
      float sum[3] = {};
      float& sum_x = sum[0];
      float& sum_y = sum[1];
      float& sum_z = sum[2];
#pragma omp simd reduction(+ : sum_x, sum_y, sum_z)
      for (std::size_t j = 0; j < near.count; ++j) {
        float x[3] = {};
        float r2 = 0;
        float approach = 0;
        for (std::size_t d = 0; d < Dim; ++d) {
          x[d] = me.position[d] - near.position[d][j];
          r2 += x[d] * x[d];
          approach += x[d] * (me.velocity[d] - near.velocity[d][j]);
        }
        const float r = std::sqrt(r2);
        const float q = r * inverse_h;
        const float outer = or_zero(2 - q);
        const float inner = or_zero(1 - q);
        const float slope = 3 * (inner * inner) - 0.75F * (outer * outer);
        const float closing = -or_zero(-approach);
        const float viscous = -2 * c.viscosity * closing / ((mine.density + near.density[j]) * (r2 + not_zero));
        // The particle itself is its neighbour, too, at no distance, and must add nothing.
        const float scale = (mine.stress + near.stress[j] + viscous) * slope / (r + 1e-9F);
        sum_x -= scale * x[0];
        sum_y -= scale * x[1];
        sum_z -= scale * x[2];
      }
      for (std::size_t d = 0; d < Dim; ++d) into.acceleration[i][d] += sum[d];
    }
  });
  for (std::uint32_t i = leaf.first; i < leaf.first + leaf.count; ++i) {
    for (float& a : into.acceleration[i]) a *= constants_.force_factor;
  }
  vm::touch(&into.acceleration[leaf.first], leaf.count * sizeof(vector), true);
  return pairs;
}

template <int Dim>
std::uint64_t sph_fluid<Dim>::compute(results& into) const {
  std::uint64_t pairs = 0;
  for (const std::uint32_t leaf : leaves_) pairs += compute_matter(nodes_[leaf], into);
  for (const std::uint32_t leaf : leaves_) pairs += compute_forces(nodes_[leaf], into);
  return pairs;
}

template <int Dim>
void sph_fluid<Dim>::clamp(particle& p, const vector& room) const {
  for (std::size_t d = 0; d < Dim; ++d) {
    const float low = spacing_ / 2;
    const float high = room[d] - spacing_ / 2;
    if (p.position[d] < low) {
      p.position[d] = low;
      p.velocity[d] = std::max(p.velocity[d], 0.0F);
    } else if (p.position[d] > high) {
      p.position[d] = high;
      p.velocity[d] = std::min(p.velocity[d], 0.0F);
    }
  }
}

template <int Dim>
void sph_fluid<Dim>::move(const results& by, float seconds, const vector& room) {
  for (std::size_t i = 0; i < particles_.size(); ++i) {
    particle& p = particles_[i];
    for (std::size_t d = 0; d < Dim; ++d) {
      p.velocity[d] += seconds * (by.acceleration[i][d] - (d == 1 ? 1.0F : 0.0F));
      p.position[d] += seconds * p.velocity[d];
    }
    clamp(p, room);
  }
  build_tree();
}

template <int Dim>
void sph_fluid<Dim>::refine(std::size_t count, const vector& room) {
  paged_vector<particle> finer;
  finer.reserve(particles_.size() << Dim);
  for (const particle& p : particles_) {
    for (unsigned child = 0; child < 1U << Dim; ++child) {
      particle& part = finer.emplace_back(p);
      for (std::size_t d = 0; d < Dim; ++d) {
        part.position[d] += (((child >> d) & 1U) != 0 ? 0.25F : -0.25F) * spacing_;
      }
    }
  }
  finer.resize(std::min(finer.size(), count));
  particles_ = std::move(finer);
  set_spacing(spacing_ / 2);
  build_tree();
  constexpr int steps = 6;
  const float most = 0.2F * spacing_;
  const float strength = 0.5F * constants_.smoothing * constants_.smoothing;
  const float viscosity = std::exchange(constants_.viscosity, 0.0F);
  for (int step = 0; step < steps; ++step) {
    results found = empty_results();
    for (const std::uint32_t leaf : leaves_) compute_matter(nodes_[leaf], found);
    for (matter& m : found.of) m.stress = std::max(m.density - 1, 0.0F);
    for (const std::uint32_t leaf : leaves_) compute_forces(nodes_[leaf], found);
    for (std::size_t i = 0; i < particles_.size(); ++i) {
      for (std::size_t d = 0; d < Dim; ++d) {
        particles_[i].position[d] += std::clamp(strength * found.acceleration[i][d], -most, most);
      }
      clamp(particles_[i], room);
    }
    build_tree();
  }
  constants_.viscosity = viscosity;
}

template <int Dim>
sph_fluid<Dim> standing_dam(std::size_t count) {
  // So many in a row that the column is as high as it should be.
  const double volume = static_cast<double>(count) / column_height;
  const auto row = static_cast<std::size_t>(std::max(1.0, std::round(std::pow(volume, 1.0 / Dim))));
  const float spacing = 1 / static_cast<float>(row);
  paged_vector<typename sph_fluid<Dim>::particle> all(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto place = [&](std::size_t number) { return (static_cast<float>(number) + 0.5F) * spacing; };
    all[i].position[0] = place(i % row);
    if constexpr (Dim == 2) {
      all[i].position[1] = place(i / row);
    } else {
      all[i].position[1] = place(i / (row * row));
      all[i].position[2] = place(i / row % row);
    }
  }
  return {std::move(all), spacing, sound_speed};
}

template <int Dim>
void let_collapse(sph_fluid<Dim>& fluid, float seconds) {
  const float step_s = 0.4F * sph_fluid<Dim>::smoothing_spacings * fluid.spacing() / sound_speed;
  auto found = fluid.empty_results();
  const int steps = static_cast<int>(std::ceil(seconds / step_s));
  for (int step = 0; step < steps; ++step) {
    fluid.compute(found);
    fluid.move(found, step_s, dam_room<Dim>());
  }
}

template <int Dim>
sph_fluid<Dim> collapsing_dam(std::size_t count) {
  int finer = 0;
  const auto coarse = [&](int levels) {
    const std::size_t children = std::size_t{1} << (levels * Dim);
    return (count + children - 1) / children;
  };
  while (coarse(finer) > most_coarse) ++finer;
  sph_fluid<Dim> fluid = standing_dam<Dim>(coarse(finer));
  let_collapse(fluid, middle_of_collapse);
  while (finer > 0) fluid.refine(coarse(--finer), dam_room<Dim>());
  return fluid;
}

template class sph_fluid<2>;
template class sph_fluid<3>;
template sph_fluid<2> standing_dam<2>(std::size_t);
template sph_fluid<3> standing_dam<3>(std::size_t);
template sph_fluid<2> collapsing_dam<2>(std::size_t);
template sph_fluid<3> collapsing_dam<3>(std::size_t);
template void let_collapse<2>(sph_fluid<2>&, float);
template void let_collapse<3>(sph_fluid<3>&, float);

}  // namespace filch::bench
