// The serial elision that counts forks, for workloads whose number of tasks no formula gives.
#pragma once

#include <cstdint>
#include <utility>

#include "serial_peer.hpp"

namespace filch::bench {

struct counting_peer {
  /// Forks since the last `count_tasks` of this thread began.
  static inline thread_local std::uint64_t forks = 0;

  template <class F, class G>
  static auto fork_join(F&& f, G&& g) {
    ++forks;
    return serial_peer::fork_join(std::forward<F>(f), std::forward<G>(g));
  }

  class group {
   public:
    template <class F>
    void run(F&& closure) {
      ++forks;
      std::forward<F>(closure)();
    }
    void wait() {}
  };
};

/// How many tasks `kernel`, which must use `counting_peer`, spawns.
template <class Kernel>
std::uint64_t count_tasks(Kernel&& kernel) {
  counting_peer::forks = 0;
  kernel();
  return counting_peer::forks;
}

}  // namespace filch::bench
