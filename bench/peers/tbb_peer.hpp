// oneTBB.
#pragma once

#include <optional>
#include <tuple>
#include <utility>

#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/task_group.h>

#include "value_of.hpp"

namespace filch::bench {

struct tbb_peer {
  /// As fast as a task_group with one branch run directly, on one worker and on two.
  template <class F, class G>
  static auto fork_join(F&& f, G&& g) {
    std::optional<value_of_t<F>> first;
    std::optional<value_of_t<G>> second;
    tbb::parallel_invoke([&] { first.emplace(value_of(std::forward<F>(f))); },
                         [&] { second.emplace(value_of(std::forward<G>(g))); });
    return std::tuple(*std::move(first), *std::move(second));
  }

  using group = tbb::task_group;
};

}  // namespace filch::bench
