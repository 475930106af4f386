// What tasks of the programs here do: so many steps, which no compiler leaves out.
#pragma once

#include <atomic>

namespace filch::tests {

inline std::atomic<unsigned> sink = 0;

inline void work(unsigned steps) {
  unsigned x = sink.load(std::memory_order_relaxed);
  for (unsigned i = 0; i < steps; ++i) x = x * 1'664'525U + 1'013'904'223U;
  sink.store(x, std::memory_order_relaxed);
}

}  // namespace filch::tests
