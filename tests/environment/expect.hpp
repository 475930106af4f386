// For programs whose test is how they end: a line and status 1 where something is not so.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace filch::tests {

inline void expect(bool so, const char* what) {
  if (so) return;
  static_cast<void>(std::fprintf(stderr, "not so: %s\n", what));
  std::_Exit(1);
}

}  // namespace filch::tests
