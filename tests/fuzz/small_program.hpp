// Programs for the explorer: a handful of tasks, small stacks, and no interrupts, which have scenarios of their own.
#pragma once

#include <cstdint>

#include "platform/vm/explorer/explorer.hpp"
#include "program.hpp"

namespace filch::fuzz {

inline constexpr platform::vm::explorer::bounds small_bounds{.most_steps = 200'000};

inline program small_program(std::uint64_t seed, features wanted) {
  wanted.leave_out("outside");  // the default scheduler would outlive its world
  program p = generate(seed, {.statements = 12, .work = 24, .chain = 4, .recursion = 4, .threads = 2}, wanted);
  for (options& o : p.schedulers) {
    if (o.interrupt_after_ns) o.interrupt_after_ns = 0;
    if (o.policy == "sender") o.deal_interval_ns = 1;  // at each look, mostly
    o.stack_bytes = 4096;
  }
  return p;
}

}  // namespace filch::fuzz
