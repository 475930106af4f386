#include "exploration.hpp"

namespace filch::explore {

result explore(vm::explorer& world, const scenario& what, const plan& how) {
  using clock = std::chrono::steady_clock;
  result all;
  const auto begun = clock::now();
  const std::uint64_t steps_before = world.steps();
  for (const std::string& name : how.strategies) {
    const auto choices = vm::make_strategy(name, how.seed);
    const auto until = clock::now() + std::chrono::duration<double>(how.seconds);
    for (std::uint64_t runs = 0; !all.failed && runs < how.most_runs && choices->begin(); ++runs) {
      ++all.runs;
      all.failed = world.run(what.body, *choices);
      if (how.twice && !all.failed) {
        const std::uint64_t digest = world.digest();
        const auto again = vm::replay(choices->seed());
        if (again->begin()) all.failed = world.run(what.body, *again);
        if (!all.failed && world.digest() != digest) {
          all.failed = vm::failure{"the same choices led to another run", choices->seed(), {}};
        }
      }
      if (runs % 16 == 0 && clock::now() > until) break;
    }
  }
  all.steps = world.steps() - steps_before;
  all.seconds = std::chrono::duration<double>(clock::now() - begun).count();
  return all;
}

std::optional<vm::failure> repeat(vm::explorer& world, const scenario& what, const std::string& seed) {
  const auto choices = vm::replay(seed);
  if (!choices->begin()) return std::nullopt;
  return world.run(what.body, *choices, true);
}

}  // namespace filch::explore
