#include <utility>

#include <filch/vm/simulation.hpp>

#include "vm/machine/many_core.hpp"

namespace filch::vm {

using platform::vm::many_core;

simulation::simulation(const machine_description& machine, std::uint64_t seed, int threads, int nodes)
    : world_(std::make_unique<many_core>(machine, seed, threads, nodes)) {}

simulation::~simulation() = default;

void simulation::run(std::function<void()> program) { world_->run(std::move(program)); }
double simulation::charged_ns() const { return world_->charged_ns(); }

double now_s() {
  const many_core* const world = many_core::current();
  return world == nullptr ? 0 : world->now_s();
}

int node() {
  platform::vm::world* const world = platform::vm::world::current();
  return world == nullptr ? 0 : world->node();
}

void note_allocation(const void* at, std::size_t bytes) {
  if (platform::vm::world* const world = platform::vm::world::current()) world->allocated(at, bytes);
}

std::size_t stack_left() {
  const many_core* const world = many_core::current();
  return world == nullptr ? 0 : world->stack_left();
}

}  // namespace filch::vm
