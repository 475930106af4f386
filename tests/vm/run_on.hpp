// Programs of tests on a simulated machine.
#pragma once

#include <string>
#include <utility>

#include <filch/filch.hpp>
#include <filch/vm/simulation.hpp>

namespace filch::vm {

/// Calls program(scheduler&) inside of a scheduler of so many workers, on a machine of 64 cores, or of 256 where those are
/// too few.
template <class Program>
void run_on(int workers, options chosen, Program program) {
  simulation machine(load_machine(workers <= 64 ? "4x16" : "4x64", MACHINES_FOLDER), 1, workers);
  machine.run([&] {
    chosen.workers = workers;
    scheduler pool(chosen);
    pool.run([&] { program(pool); });
  });
}
template <class Program>
void run_on(int workers, const std::string& policy, Program program) {
  run_on(workers, options{.policy = policy}, std::move(program));
}

}  // namespace filch::vm
