#include "tile_map.hpp"

#include <algorithm>
#include <ostream>

namespace filch::bench {

tile_map::tile_map(std::uint32_t side, std::uint32_t iterations, bool is_kept)
    : side_(side), iterations_(iterations), is_kept_(is_kept) {}

void tile_map::clear() {
  tiles_.assign(std::size_t{side_} * side_, {});
  if (is_kept_) workers_.assign(iterations_ * tiles_.size(), 0);
}

std::uint64_t tile_map::moves() const {
  std::uint64_t sum = 0;
  for (const tile& each : tiles_) sum += each.moves;
  return sum;
}

std::vector<std::uint32_t> tile_map::workers() const {
  std::vector<std::uintptr_t> known = workers_;
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  std::vector<std::uint32_t> numbers;
  numbers.reserve(workers_.size());
  for (const std::uintptr_t worker : workers_) {
    numbers.push_back(static_cast<std::uint32_t>(std::lower_bound(known.begin(), known.end(), worker) - known.begin()));
  }
  return numbers;
}

void tile_map::write(std::ostream& to) const {
  to << "iteration,row,column,worker\n";
  std::size_t at = 0;
  for (const std::uint32_t worker : workers()) {
    to << at / tiles_.size() << ',' << at % tiles_.size() / side_ << ',' << at % side_ << ',' << worker << '\n';
    ++at;
  }
}

}  // namespace filch::bench
