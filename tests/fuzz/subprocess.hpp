// Runs what may crash or hang in a process of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace filch::fuzz {

/// What became of the process.
struct verdict {
  bool failed = false;
  std::string what;         ///< "wrong: ...", "stack: ...", "crashed: ...", "hangs: ..."
  std::uint64_t steps = 0;  ///< of the last that it said
  std::uint64_t mark = 0;   ///< likewise
};

/// The body says how far it has come. Whoever says nothing for `patience_s` hangs.
class progress {
 public:
  void step(std::uint64_t mark);
};

/// Calls body in a child process. Call it from a process with one thread.
/// @param quiet  what the child prints is thrown away.
verdict in_child(const std::function<void(progress&)>& body, double patience_s, bool quiet);

}  // namespace filch::fuzz
