// Of runtimes that remember nothing of a part of a program that is repeated.
#pragma once

#include <utility>

namespace filch::bench {

struct plain_repetition {
  template <class F>
  void run(F&& f) {
    std::forward<F>(f)();
  }
};

}  // namespace filch::bench
