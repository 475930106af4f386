// Stacks for the deepest workloads. Unbalanced Tree Search recurses as deep as its tree, which for T3L is 17844 nodes;
// with oneTBB, which needs about 3 KB of stack per node, that is more than threads get by default.
#pragma once

#include <cstddef>

#include <oneapi/tbb/global_control.h>

namespace filch::bench {

/// While one lives, all threads have deep stacks: the main thread may grow further, and threads that are started from
/// now on (filch's, OpenMP's, oneTBB's) have that size. Make it at the start of main. Only pages that are touched cost
/// memory. A limit that is already higher (ulimit -s) stays.
class deep_stacks {
 public:
  /// What threads get at least. Linux leaves the main thread room for 128 MiB, however low the limit is at its start.
  static constexpr std::size_t size_bytes = std::size_t{112} << 20;

  deep_stacks();
  deep_stacks(const deep_stacks&) = delete;
  deep_stacks& operator=(const deep_stacks&) = delete;

 private:
  oneapi::tbb::global_control tbb_threads_;
};

}  // namespace filch::bench
