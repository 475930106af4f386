// Runs what may crash or hang in a process of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace filch::fuzz {

/// What became of the process.
struct verdict {
  bool failed = false;
  std::string what;            ///< "wrong: ...", "stack: ...", "crashed: ...", "hangs"
  std::uint64_t programs = 0;  ///< that it began
};

/// The body says how far it has come. Whoever says nothing for `patience_s` hangs.
class progress {
 public:
  void begin_program();
  void step();
};

/// In the child: something is wrong. Nothing is tidied up, for everything may be spoilt.
[[noreturn]] void end_child(const std::string& what);

/// Calls body in a child process. Call it from a process with one thread.
/// @param quiet  what the child prints is thrown away.
verdict in_child(const std::function<void(progress&)>& body, double patience_s, bool quiet);

}  // namespace filch::fuzz
