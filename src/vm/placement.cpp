#include "platform/placement.hpp"

#include <cstddef>
#include <utility>

#include "vm/world.hpp"

namespace filch::platform {

std::vector<worker_place> places_of_workers(int workers, pinning way) {
  std::vector<hardware_thread> threads = vm::world::current()->hardware();
  if (way != pinning::none) return place_workers(std::move(threads), workers, way);
  // Threads stay where the world puts them, which is known.
  std::vector<worker_place> places;
  places.reserve(static_cast<std::size_t>(workers));
  for (std::size_t w = 0; w < static_cast<std::size_t>(workers); ++w) {
    places.push_back({.groups = threads[w % threads.size()].groups});
  }
  return places;
}

// Threads stay where the world puts them.
std::uint32_t socket_of_thread(const worker_place& of) noexcept {
  return of.groups[static_cast<std::size_t>(group_level::socket)];
}

worker_place place_of_guest(pinning /*way*/) { return {.groups = {no_group, no_group, no_group}}; }

}  // namespace filch::platform
