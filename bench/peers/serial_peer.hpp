// The serial elision: forks are plain calls, in order.
#pragma once

#include <tuple>
#include <utility>

#include "value_of.hpp"

namespace filch::bench {

struct serial_peer {
  template <class F, class G>
  [[gnu::always_inline]] static auto fork_join(F&& f, G&& g) {
    auto first = value_of(std::forward<F>(f));
    return std::tuple(std::move(first), value_of(std::forward<G>(g)));
  }

  class group {
   public:
    template <class F>
    [[gnu::always_inline]] void run(F&& closure) {
      std::forward<F>(closure)();
    }
    void wait() {}
  };
};

}  // namespace filch::bench
