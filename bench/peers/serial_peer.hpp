// The serial elision: forks are plain calls, in order.
#pragma once

#include <tuple>
#include <utility>
#include <vector>

#include <filch/filch.hpp>

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

  /// A bag that grows while it is processed: body(item, push) for `first` and for every item that push(item) adds.
  template <class Item, class Body>
  static void for_each_dynamic(const Item& first, const Body& body, sharing /*how*/) {
    std::vector<Item> items{first};
    while (!items.empty()) {
      Item item = std::move(items.back());
      items.pop_back();
      body(item, [&](Item&& more) { items.push_back(std::move(more)); });
    }
  }
};

}  // namespace filch::bench
