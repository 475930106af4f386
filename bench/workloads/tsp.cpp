// tsp and tsp_reduce: the shortest tour through n cities that all are connected, by nested loops over the next city, as
// in the lazy-scheduling paper (Tzannes and others 2014, Section 7.3).
//
// Branch and bound: a path is given up when it cannot become a tour as short as that of the nearest neighbours. This
// bound is fixed, so every run does the same work, whatever the schedule, and times can be compared. `tsp` keeps the
// shortest length in an atomic, in `tsp_reduce` it comes out of the loops. "n" is declarative; with "n/d" paths of more
// than d cities are followed by serial code (the paper's coarse version has d = n/2).
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <filch/vm.hpp>

#include "catalogue.hpp"
#include "counting_peer.hpp"
#include "parse_size.hpp"
#include "random.hpp"
#include "with_peer.hpp"

namespace filch::bench {
namespace {

constexpr int fewest_cities = 3;
constexpr int most_cities = 18;
constexpr int no_tour = std::numeric_limits<int>::max();
constexpr std::uint64_t seed = 20140801;

vm::work step("tsp_step");

struct city_map {
  int n;
  int cutoff;
  std::array<std::array<int, most_cities>, most_cities> distance;
  std::array<int, most_cities> nearest;  // from each city, the distance of the nearest other one
  int bound;
};

// Places in a square of 1000 by 1000.
void set_distances(city_map& map) {
  random_numbers numbers(seed);
  std::array<std::pair<double, double>, most_cities> places;
  for (auto& [x, y] : places) {
    x = 1000 * numbers.next_real();
    y = 1000 * numbers.next_real();
  }
  for (int a = 0; a < map.n; ++a) {
    map.nearest[a] = no_tour;
    for (int b = 0; b < map.n; ++b) {
      const auto [ax, ay] = places[a];
      const auto [bx, by] = places[b];
      map.distance[a][b] = static_cast<int>(std::lround(std::hypot(ax - bx, ay - by)));
      if (a != b) map.nearest[a] = std::min(map.nearest[a], map.distance[a][b]);
    }
  }
}

// The length of the tour that goes from each city to the nearest one that is left.
int nearest_neighbour_tour(const city_map& map) {
  std::uint32_t visited = 1;
  int at = 0;
  int length = 0;
  for (int i = 1; i < map.n; ++i) {
    int next = -1;
    for (int city = 0; city < map.n; ++city) {
      const bool is_left = (visited >> city & 1U) == 0;
      if (is_left && (next < 0 || map.distance[at][city] < map.distance[at][next])) next = city;
    }
    length += map.distance[at][next];
    visited |= 1U << next;
    at = next;
  }
  return length + map.distance[at][0];
}

city_map make_map(size_with_cutoff size) {
  city_map map{.n = size.n, .cutoff = size.cutoff, .distance = {}, .nearest = {}, .bound = 0};
  set_distances(map);
  map.bound = nearest_neighbour_tour(map);
  return map;
}

// The length of the shortest tour, by Held and Karp: the shortest paths through each set of cities.
int shortest_tour(const city_map& map) {
  const int others = map.n - 1;  // city 0 is where tours begin; bit i stands for city i + 1
  const std::size_t sets = std::size_t{1} << others;
  std::vector<int> shortest(sets * static_cast<std::size_t>(others), no_tour);
  const auto path = [&](std::size_t set, int last) -> int& {
    return shortest[set * static_cast<std::size_t>(others) + static_cast<std::size_t>(last)];
  };
  for (int city = 0; city < others; ++city) path(std::size_t{1} << city, city) = map.distance[0][city + 1];
  for (std::size_t set = 1; set < sets; ++set) {
    for (int last = 0; last < others; ++last) {
      const int length = path(set, last);
      if (length == no_tour) continue;
      for (int next = 0; next < others; ++next) {
        if ((set >> next & 1U) != 0) continue;
        int& longer = path(set | std::size_t{1} << next, next);
        longer = std::min(longer, length + map.distance[last + 1][next + 1]);
      }
    }
  }
  int best = no_tour;
  for (int last = 0; last < others; ++last) {
    best = std::min(best, path(sets - 1, last) + map.distance[last + 1][0]);
  }
  return best;
}

struct path {
  std::uint32_t visited;  // one bit for each city
  int cities;             // how many
  int last;
  int length;
  int rest;  // of all cities that are left, the sum of the distances to the nearest others
};

path start_of(const city_map& map) {
  int rest = 0;
  for (int city = 1; city < map.n; ++city) rest += map.nearest[city];
  return {.visited = 1, .cities = 1, .last = 0, .length = 0, .rest = rest};
}

// Inlined in every version alike, or the compiler decides anew with each change. `p` with one more city; nothing when
// it has that city already, or when no tour within the bound begins so.
[[gnu::always_inline]] inline std::optional<path> extended(const city_map& map, const path& p, int city) {
  step.done();
  if ((p.visited >> city & 1U) != 0) return std::nullopt;
  const int length = p.length + map.distance[p.last][city];
  // Each city that is left has yet to be left itself, the new one included.
  if (length + p.rest > map.bound) return std::nullopt;
  return path{.visited = p.visited | 1U << city,
              .cities = p.cities + 1,
              .last = city,
              .length = length,
              .rest = p.rest - map.nearest[city]};
}

int closed(const city_map& map, const path& p) { return p.length + map.distance[p.last][0]; }

void lower(std::atomic<int>& best, int length) {
  vm::touch(&best, sizeof best);
  int seen = best.load(std::memory_order_relaxed);  // nothing but the number is passed on
  while (length < seen) {
    vm::touch(&best, sizeof best, true);
    if (best.compare_exchange_weak(seen, length, std::memory_order_relaxed)) return;
  }
}

template <class Peer>
void lower_below(const city_map& map, const path& p, std::atomic<int>& best) {
  Peer::for_each_index(static_cast<std::uint64_t>(map.n), [&map, &p, &best](std::uint64_t city) {
    const std::optional<path> longer = extended(map, p, static_cast<int>(city));
    if (!longer) return;
    if (longer->cities == map.n) {
      lower(best, closed(map, *longer));
    } else if (longer->cities > map.cutoff) {
      lower_below<serial_peer>(map, *longer, best);
    } else {
      lower_below<Peer>(map, *longer, best);
    }
  });
}

template <class Peer>
int shortest_below(const city_map& map, const path& p) {
  const auto shortest_over = [&map, &p](std::uint64_t city) -> int {
    const std::optional<path> longer = extended(map, p, static_cast<int>(city));
    if (!longer) return no_tour;
    if (longer->cities == map.n) return closed(map, *longer);
    return longer->cities > map.cutoff ? shortest_below<serial_peer>(map, *longer) : shortest_below<Peer>(map, *longer);
  };
  return Peer::reduce(static_cast<std::uint64_t>(map.n), no_tour, shortest_over,
                      [](int a, int b) { return std::min(a, b); });
}

enum class minimum { atomic, reduced };

template <class Peer>
int shortest(const city_map& map, minimum how) {
  if (how == minimum::reduced) return shortest_below<Peer>(map, start_of(map));
  std::atomic<int> best{no_tour};
  lower_below<Peer>(map, start_of(map), best);
  return best.load(std::memory_order_relaxed);
}

class tsp_instance final : public instance {
 public:
  tsp_instance(size_with_cutoff size, minimum how) : map_(make_map(size)), how_(how) {}

  void prepare() override { length_ = no_tour; }

  void run(runner on) override {
    step.look_up();
    length_ = with_peer(on, [&]<class Peer>() { return shortest<Peer>(map_, how_); });
  }

  std::string result() const override { return fmt::format("length {}", length_); }

  bool verify() const override {
    if (!expected_) expected_ = shortest_tour(map_);
    return length_ == *expected_;
  }

  std::uint64_t tasks() const override {
    if (!tasks_) tasks_ = count_tasks([&] { shortest<counting_peer>(map_, how_); });
    return *tasks_;
  }

 private:
  city_map map_;
  minimum how_;
  int length_ = no_tour;
  mutable std::optional<int> expected_;  // both worked out when first asked for
  mutable std::optional<std::uint64_t> tasks_;
};

workload make_workload(std::string name, std::string summary, minimum how) {
  auto make = [name, how](std::string_view size) -> std::unique_ptr<instance> {
    const size_context context{name, size, "17"};
    return std::make_unique<tsp_instance>(parse_with_cutoff(context, fewest_cities, most_cities), how);
  };
  return {std::move(name), std::move(summary), "17", {"12", "12/6", "14", "16", "17", "17/8"}, std::move(make), "10"};
}

}  // namespace

workload tsp_workload() {
  return make_workload("tsp",
                       "shortest tour through n cities, nested loops, an atomic minimum; n/d: serial below d cities",
                       minimum::atomic);
}

workload tsp_reduce_workload() { return make_workload("tsp_reduce", "tsp with nested reductions", minimum::reduced); }

}  // namespace filch::bench
