#include "trial.hpp"

#include <cstdint>

#include "interpret.hpp"

namespace filch::fuzz {

const trial this_trial{
    "filch_fuzz", "Runs programs that nobody has written, and compares them with their serial elision.", {}, 8};

void adapt(program& /*p*/, features& /*wanted*/) {}

void try_program(const program& p, const prediction& expected, int repetitions, progress& so_far) {
  // Threads that have just been started find other things than those that are awake.
  constexpr int runs_of_a_scheduler = 64;
  for (int left = repetitions; left > 0; left -= runs_of_a_scheduler) {
    interpreter runner(p, expected);
    for (int k = 0; k < left && k < runs_of_a_scheduler; ++k) {
      so_far.step();
      runner.run();
    }
  }
}

}  // namespace filch::fuzz
