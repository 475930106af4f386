// filch's own constructs, as a user writes them.
#pragma once

#include <utility>

#include <filch/filch.hpp>

namespace filch::bench {

struct filch_peer {
  template <class F, class G>
  [[gnu::always_inline]] static auto fork_join(F&& f, G&& g) {
    return filch::fork_join(std::forward<F>(f), std::forward<G>(g));
  }

  using group = filch::task_group;
};

}  // namespace filch::bench
