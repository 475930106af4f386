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

  /// See serial_peer. An item is charged by its body; to push and pop it is free.
  template <class Item, class Body>
  static void for_each_dynamic(const Item& first, const Body& body, sharing how) {
    filch::for_each_dynamic(
        &first, &first + 1,
        [&](Item& item, feeder<Item>& more) { body(item, [&](Item&& next) { more.push(std::move(next)); }); }, how);
  }
};

}  // namespace filch::bench
