// How a bag is processed: the owner's part, inlined into the caller as far as it concerns the body.
#pragma once

#include <functional>
#include <stop_token>
#include <type_traits>

#include <filch/detail/division.hpp>
#include <filch/detail/item_share.hpp>
#include <filch/detail/on_worker.hpp>
#include <filch/detail/run_bag_share.hpp>
#include <filch/detail/worker_core.hpp>
#include <filch/feeder.hpp>
#include <filch/loop.hpp>

namespace filch::detail {

/// A bag's body, to be called by all who process a part of it.
template <class Item, class Body>
struct bag_body {
  Body& body;

  static void run_part(item_share<Item>& part, piece* stolen) noexcept {
    Body& body = static_cast<const bag_body*>(part.whole.body)->body;
    feeder<Item> more(part);
    detail::run_bag_share(part, stolen, [&] {
      Item item = part.items.pop();
      if constexpr (std::is_invocable_v<Body&, Item&, feeder<Item>&>) {
        std::invoke(body, item, more);
      } else {
        std::invoke(body, item);
      }
    });
  }

  static void run_stolen(worker_core& w, bag_chunk& chunk, piece& stolen) noexcept {
    item_share<Item> part(w, *chunk.whole);
    part.put_back(chunk);
    run_part(part, &stolen);
  }
};

template <class Item, class Body>
loop_status run_bag_on(worker_core& w, item_stack<Item>& items, Body& body, sharing how, const std::stop_token* stop) {
  using run = bag_body<Item, Body>;
  how = resolve(w, how);
  const run with{body};
  bag_state whole{.body = &with, .run_stolen = &run::run_stolen, .kind = how.kind, .chunk = how.chunk, .stop = stop};
  {
    item_share<Item> part(w, whole);
    part.items.swap(items);
    if (!part.items.empty()) run::run_part(part, nullptr);
  }
  return outcome_of(whole);
}

/// Processes the items, and those that the body adds, until none is left.
template <class Item, class Body>
loop_status run_bag(item_stack<Item>& items, Body& body, sharing how, const std::stop_token* stop = nullptr) {
  return detail::on_worker([&] {
    const search_pause here(*self);
    return detail::run_bag_on(*self, items, body, how, stop);
  });
}

}  // namespace filch::detail
