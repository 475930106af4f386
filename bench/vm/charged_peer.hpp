// filch's constructs on the virtual machine: the instructions of the fast path are charged, its memory operations the
// machine charges itself.
#pragma once

#include <utility>

#include <filch/filch.hpp>
#include <filch/vm.hpp>

namespace filch::bench {

/// Of one task, from its push to its join.
inline vm::work spawn("spawn");

struct charged_peer {
  template <class F, class G>
  static auto fork_join(F&& f, G&& g) {
    spawn.done();
    return filch::fork_join(std::forward<F>(f), std::forward<G>(g));
  }

  class group {
   public:
    template <class F>
    void run(F&& f) {
      spawn.done();
      group_.run(std::forward<F>(f));
    }
    void wait() { group_.wait(); }

   private:
    task_group group_;
  };
};

}  // namespace filch::bench
