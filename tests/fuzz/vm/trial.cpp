#include "trial.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "interpret.hpp"
#include "vm/explorer/explorer.hpp"

namespace filch::fuzz {
namespace {

namespace vm = platform::vm;

constexpr vm::explorer::bounds limits{.most_steps = 200'000};

}  // namespace

const trial this_trial{"filch_explore_fuzz",
                       "Explores programs that nobody has written. FILCH_VM_SEED=... repeats one run of a program.",
                       {.statements = 12, .work = 24, .chain = 4, .recursion = 4, .threads = 2},
                       200};

void adapt(program& p, features& wanted) {
  wanted.leave_out("outside");  // the default scheduler would outlive its world
  for (options& o : p.schedulers) {
    if (o.interrupt_after_ns) o.interrupt_after_ns = 0;  // have scenarios of their own
    if (o.policy == "sender") o.deal_interval_ns = 1;    // at each look, mostly
    o.stack_bytes = 4096;
  }
}

void try_program(const program& p, const prediction& expected, int repetitions, progress& so_far) {
  vm::explorer world(limits);
  const auto body = [&] { interpreter(p, expected).run(); };
  if (const char* const seed = std::getenv("FILCH_VM_SEED")) {
    const auto choices = vm::replay(seed);
    if (!choices->begin()) return;
    const auto failed = world.run(body, *choices, true);
    if (!failed) return;
    for (const std::string& line : failed->story) std::printf("%s\n", line.c_str());
    std::fflush(stdout);
    end_child(failed->what);
  }
  for (const char* const name : {"random", "pct"}) {
    const auto choices = vm::make_strategy(name, p.seed);
    for (int k = 0; k < repetitions / 2 && choices->begin(); ++k) {
      so_far.step();
      if (const auto failed = world.run(body, *choices))
        end_child(failed->what + " (FILCH_VM_SEED=" + failed->seed + ")");
    }
  }
}

}  // namespace filch::fuzz
