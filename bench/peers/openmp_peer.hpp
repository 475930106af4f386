// OpenMP tasks. Must be called inside a parallel region, by the thread of a `single`.
#pragma once

#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "value_of.hpp"

namespace filch::bench {

struct openmp_peer {
  /// g is the task and f runs here, as in filch; both live in this frame until the taskwait, so g is shared.
  template <class F, class G>
  static auto fork_join(F&& f, G&& g) {
    std::optional<value_of_t<G&>> second;
#pragma omp task default(none) shared(g, second)
    second.emplace(value_of(g));
    auto first = value_of(std::forward<F>(f));
#pragma omp taskwait
    return std::tuple(std::move(first), *std::move(second));
  }

  /// Groups nest strictly inside tasks, so that waiting for the current task's children waits for the group.
  class group {
   public:
    /// The closure is copied into the task: the caller's copy ends with the full expression.
    template <class F>
    void run(F&& closure) {
      std::decay_t<F> task(std::forward<F>(closure));
#pragma omp task default(none) firstprivate(task)
      task();
    }

    void wait() {
#pragma omp taskwait
    }
  };
};

}  // namespace filch::bench
