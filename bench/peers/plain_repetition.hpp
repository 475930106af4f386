// Of runtimes that remember nothing of what is repeated.
#pragma once

#include <cstdint>
#include <utility>

namespace filch::bench {

/// A part of a program.
struct plain_repetition {
  template <class F>
  void run(F&& f) {
    std::forward<F>(f)();
  }
};

/// A loop over the same data.
template <class Peer>
struct plain_repeated_loop {
  template <class Body>
  void run(std::uint64_t n, const Body& body) {
    Peer::for_each_index(n, body);
  }
};

}  // namespace filch::bench
