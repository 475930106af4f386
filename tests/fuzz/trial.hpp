// What the two fuzzers differ in: filch_fuzz runs programs on real threads, filch_explore_fuzz under the choices of the
// explorer. One of native/trial.cpp and vm/trial.cpp is compiled.
#pragma once

#include <string_view>

#include "oracle.hpp"
#include "program.hpp"
#include "subprocess.hpp"

namespace filch::fuzz {

struct trial {
  std::string_view name;  ///< of the fuzzer
  std::string_view about;
  size_limits most;
  int repetitions;  ///< of a program, unless told otherwise
};
extern const trial this_trial;

/// Makes a program one that this fuzzer can run.
void adapt(program& p, features& wanted);

/// Runs it so many times, and ends the process when something is wrong.
void try_program(const program& p, const prediction& expected, int repetitions, progress& so_far);

}  // namespace filch::fuzz
