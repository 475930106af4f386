// Exploring one scenario for a while.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenario.hpp"

namespace filch::explore {

namespace vm = platform::vm;

struct plan {
  std::vector<std::string> strategies{"random", "pct", "exhaustive"};
  double seconds = 1;  ///< for each strategy
  std::uint64_t most_runs = ~std::uint64_t{0};
  std::uint64_t seed = 1;
  bool twice = false;  ///< run everything again and compare
};

struct result {
  std::uint64_t runs = 0;
  std::uint64_t steps = 0;
  double seconds = 0;
  std::optional<vm::failure> failed;
};

/// Runs a scenario with each strategy of the plan in turn until one fails.
result explore(vm::explorer& world, const scenario& what, const plan& how);

/// Repeats one run, with its story.
std::optional<vm::failure> repeat(vm::explorer& world, const scenario& what, const std::string& seed);

}  // namespace filch::explore
