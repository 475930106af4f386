// The serial elision: forks are plain calls, in order, and loops are plain loops.
//
// What the loops of every peer have in common:
//   for_each_index(n, body, grain)           body(i) for every i in [0, n)
//   for_each_block(rows, columns, body)      body(row_begin, row_end, column_begin, column_end) for rectangles that
//                                            together are rows x columns
//   reduce(n, identity, value, combine, grain)   value(0), ..., value(n - 1) combined in order; identity for n = 0
// Iterations may run at the same time, and loops may be inside of loops. `grain` is the number of iterations below
// which a hand-coarsened version does not divide a loop; without one, the peer decides.
//
// For workloads that care which worker runs what:
//   repeated_loop                            a loop that runs again and again over the same data: run(n, body). A peer
//                                            may remember which worker ran which iteration.
//   repeated_part                            a part of a program that runs again and again, with its tasks: run(f)
//   for_each_part(parts, body)               a loop over one part for each worker: part t for worker t, where the peer
//                                            has such loops
//   workers(), this_worker()                 the number of workers; something that is different for each of them
//   prefers_loops                            a workload that has tasks as well as a loop uses the loop
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include <filch/filch.hpp>

#include "hinted.hpp"
#include "plain_repetition.hpp"
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

  /// A group whose tasks say how much of the total work they are, in any unit: `hinted_group g(total); g.run(f, work)`.
  using hinted_group = hinted<group>;

  template <class Body>
  [[gnu::always_inline]] static void for_each_index(std::uint64_t n, const Body& body, std::uint64_t /*grain*/ = 0) {
    for (std::uint64_t i = 0; i < n; ++i) body(i);
  }

  template <class Body>
  [[gnu::always_inline]] static void for_each_block(std::uint64_t rows, std::uint64_t columns, const Body& body) {
    body(std::uint64_t{0}, rows, std::uint64_t{0}, columns);
  }

  using repeated_part = plain_repetition;
  using repeated_loop = plain_repeated_loop<serial_peer>;

  template <class Body>
  static void for_each_part(std::uint64_t parts, const Body& body) {
    for_each_index(parts, body);
  }

  static int workers() { return 1; }
  static std::uintptr_t this_worker() { return 0; }
  static constexpr bool prefers_loops = false;

  template <class T, class Value, class Combine>
  [[gnu::always_inline]] static T reduce(std::uint64_t n, const T& identity, const Value& value, const Combine& combine,
                                         std::uint64_t /*grain*/ = 0) {
    T sum = identity;
    for (std::uint64_t i = 0; i < n; ++i) sum = combine(std::move(sum), value(i));
    return sum;
  }

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

  /// The same with a task for each item.
  template <class Item, class Body>
  static void for_each_task(const Item& first, const Body& body) {
    for_each_dynamic(first, body, {});
  }

  /// Runs a task that does at most `budget` units in step(budget), and may be split.
  template <class Task>
  static void adaptive(Task&& task, std::size_t budget, termination /*end*/) {
    while (task.step(budget)) {
    }
  }
};

}  // namespace filch::bench
