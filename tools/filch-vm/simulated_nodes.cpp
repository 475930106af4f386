#include "simulated_nodes.hpp"

#include <stdexcept>

#include <fmt/format.h>

#include <filch/places.hpp>
#include <filch/vm/places.hpp>

namespace filch::cli {

void require_nodes(const vm::machine_description& machine, int nodes) {
  if (nodes == 1 || machine.network) return;
  throw std::invalid_argument(fmt::format(
      "--places '{}' is more than machine '{}' has: one, since it has no network; take one that has, such as edison",
      nodes, machine.name));
}

double run_at_nodes(const vm::machine_description& machine, std::uint64_t seed, int threads, int nodes,
                    const places::options& chosen, const std::function<void()>& main) {
  vm::simulation simulated(machine, seed, threads, nodes);
  const std::function<int()> here = [&] {
    main();
    return 0;
  };
  simulated.run([&] { machine.network ? vm::run_place(chosen, here) : places::run_alone(chosen, here); });
  return simulated.charged_ns();
}

}  // namespace filch::cli
