// The serial elision that counts tasks, for workloads whose number of tasks no formula gives: forks, and iterations of
// loops (cells, of loops over rows and columns).
#pragma once

#include <cstdint>
#include <utility>

#include "hinted.hpp"
#include "serial_peer.hpp"

namespace filch::bench {

struct counting_peer {
  /// Forks and iterations since the last `count_tasks` of this thread began.
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
  using hinted_group = hinted<group>;

  template <class Body>
  static void for_each_index(std::uint64_t n, const Body& body, std::uint64_t /*grain*/ = 0) {
    forks += n;
    serial_peer::for_each_index(n, body);
  }

  template <class Body>
  static void for_each_block(std::uint64_t rows, std::uint64_t columns, const Body& body) {
    forks += rows * columns;
    serial_peer::for_each_block(rows, columns, body);
  }

  template <class T, class Value, class Combine>
  static T reduce(std::uint64_t n, const T& identity, const Value& value, const Combine& combine,
                  std::uint64_t /*grain*/ = 0) {
    forks += n;
    return serial_peer::reduce(n, identity, value, combine);
  }
};

/// How many tasks `kernel`, which must use `counting_peer`, spawns.
template <class Kernel>
std::uint64_t count_tasks(Kernel&& kernel) {
  counting_peer::forks = 0;
  kernel();
  return counting_peer::forks;
}

}  // namespace filch::bench
