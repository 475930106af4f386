// What a program must do: its serial elision, in which every construct is plain calls.
//
// Where the result depends on who is faster the prediction says what is possible: of a bag's exceptions any, tasks
// beside one that throws may run or not, and so may those of a group that is cancelled or unwound.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "program.hpp"

namespace filch::fuzz {

/// What a block comes to: a value, or one of several exceptions.
struct outcome {
  std::uint64_t value = 0;
  std::vector<std::uint64_t> thrown = {};
  [[nodiscard]] bool threw() const { return !thrown.empty(); }
  [[nodiscard]] bool may_throw(std::uint64_t x) const;
};

/// At one execution of an attempt, of a wait, or of a group's scope.
struct expectation {
  outcome result;          ///< attempt: of its body. Group: sum of its tasks' values
  bool known = true;       ///< group: the sum is the same in every run
  bool cancelled = false;  ///< wait: cancel() was called before
  bool perhaps = false;    ///< wait: cancel() may have been called
};

/// How often a statement runs.
struct tally {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  std::uint64_t sum = 0;  ///< of the identities of all executions; the exact one where least is most
};

struct prediction {
  outcome result;
  std::unordered_map<std::uint64_t, expectation> at;  ///< by the execution's identity
  std::vector<tally> runs;                            ///< by the statement's id
  int depth = 0;                                      ///< blocks inside of each other, at most
};

prediction predict(const program& p);

// Identities of executions: of a statement in its block, and of what a statement runs.
inline std::uint64_t identity(std::uint64_t around, const node& n) {
  return mix(around, 2 * static_cast<unsigned>(n.id));
}
inline std::uint64_t part_of(std::uint64_t x, int number) { return mix(x, 2 * static_cast<unsigned>(number) + 1); }
inline constexpr int copy_number = 1 << 20;     ///< the part of a `run` that is the copy of its closure
inline constexpr int exit_number = 1 << 21;     ///< the part of a `guard` that is the destructor
inline constexpr int sibling_number = 1 << 22;  ///< the part of a `recurse` that is the other branch

/// What an execution of the leaf kinds comes to.
std::uint64_t scanned(const node& n, std::uint64_t x);
std::uint64_t sorted(const node& n, std::uint64_t x);

}  // namespace filch::fuzz
