// oneTBB.
#pragma once

#include <optional>
#include <tuple>
#include <utility>

#include <oneapi/tbb/parallel_for_each.h>
#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/task_group.h>

#include <filch/filch.hpp>

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

  /// See serial_peer.
  template <class Item, class Body>
  static void for_each_dynamic(const Item& first, const Body& body, sharing /*how*/) {
    tbb::parallel_for_each(&first, &first + 1, [&](const Item& item, tbb::feeder<Item>& more) {
      Item copy = item;
      body(copy, [&](Item&& next) { more.add(std::move(next)); });
    });
  }
};

}  // namespace filch::bench
