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

  /// See serial_peer.
  template <class Item, class Body>
  static void for_each_dynamic(const Item& first, const Body& body, sharing how) {
    filch::for_each_dynamic(
        &first, &first + 1,
        [&](Item& item, feeder<Item>& more) { body(item, [&](Item&& next) { more.push(std::move(next)); }); }, how);
  }
};

}  // namespace filch::bench
