// oneTBB, whose loops have four ways of splitting: `tbb` is its default, the auto partitioner.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/blocked_range2d.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_for_each.h>
#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <filch/filch.hpp>

#include "for_each_task.hpp"
#include "hinted.hpp"
#include "plain_repetition.hpp"
#include "value_of.hpp"

namespace filch::bench {

template <class Partitioner>
struct tbb_peer_with {
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
  using hinted_group = hinted<group>;

  template <class Body>
  static void for_each_index(std::uint64_t n, const Body& body, std::uint64_t grain = 0) {
    Partitioner how;
    for_each_in(interval(n, grain), body, how);
  }

  using repeated_part = plain_repetition;

  /// The affinity partitioner remembers which thread ran what.
  class repeated_loop {
   public:
    template <class Body>
    void run(std::uint64_t n, const Body& body) {
      for_each_in(interval(n, 0), body, how_);
    }

   private:
    Partitioner how_;
  };

  template <class Body>
  static void for_each_part(std::uint64_t parts, const Body& body) {
    tbb::static_partitioner how;
    for_each_in(interval(parts, 0), body, how);
  }

  static int workers() { return tbb::this_task_arena::max_concurrency(); }
  static std::uintptr_t this_worker() {
    return static_cast<std::uintptr_t>(tbb::this_task_arena::current_thread_index());
  }
  static constexpr bool prefers_loops = true;

  template <class Body>
  static void for_each_block(std::uint64_t rows, std::uint64_t columns, const Body& body) {
    using block = tbb::blocked_range2d<std::uint64_t>;
    Partitioner how;
    tbb::parallel_for(
        block(0, rows, 0, columns),
        [&](const block& part) {
          body(part.rows().begin(), part.rows().end(), part.cols().begin(), part.cols().end());
        },
        how);
  }

  template <class T, class Value, class Combine>
  static T reduce(std::uint64_t n, const T& identity, const Value& value, const Combine& combine,
                  std::uint64_t grain = 0) {
    Partitioner how;
    return tbb::parallel_reduce(
        interval(n, grain), identity,
        [&](const range& part, T sum) {
          for (std::uint64_t i = part.begin(); i != part.end(); ++i) sum = combine(std::move(sum), value(i));
          return sum;
        },
        combine, how);
  }

  /// See serial_peer.
  template <class Item, class Body>
  static void for_each_dynamic(const Item& first, const Body& body, sharing /*how*/) {
    tbb::parallel_for_each(&first, &first + 1, [&](const Item& item, tbb::feeder<Item>& more) {
      Item copy = item;
      body(copy, [&](Item&& next) { more.add(std::move(next)); });
    });
  }

  /// See serial_peer.
  template <class Item, class Body>
  static void for_each_task(const Item& first, const Body& body) {
    bench::for_each_task<group>(first, body);
  }

  /// See serial_peer. oneTBB has nothing like it; this is what its users write: between two steps, half of a long task
  /// becomes another one, asked for or not.
  template <class Task>
  static void adaptive(Task&& task, std::size_t budget, termination /*end*/) {
    group all;
    run_adaptive(all, task, budget);
    all.wait();
  }

 private:
  template <class Task>
  static void run_adaptive(group& to, Task& task, std::size_t budget) {
    while (task.step(budget)) {
      if (task.size() < budget) continue;
      if (auto half = task.split()) {
        to.run([&to, budget, part = std::make_shared<Task>(*std::move(half))] { run_adaptive(to, *part, budget); });
      }
    }
  }

  using range = tbb::blocked_range<std::uint64_t>;

  // The affinity partitioner is taken by reference only.
  template <class Body, class How>
  static void for_each_in(const range& all, const Body& body, How& how) {
    tbb::parallel_for(
        all,
        [&](const range& part) {
          for (std::uint64_t i = part.begin(); i != part.end(); ++i) body(i);
        },
        how);
  }

  static range interval(std::uint64_t n, std::uint64_t grain) {
    return {0, n, static_cast<std::size_t>(std::max<std::uint64_t>(grain, 1))};
  }
};

using tbb_peer = tbb_peer_with<tbb::auto_partitioner>;
using tbb_simple_peer = tbb_peer_with<tbb::simple_partitioner>;
using tbb_static_peer = tbb_peer_with<tbb::static_partitioner>;
using tbb_affinity_peer = tbb_peer_with<tbb::affinity_partitioner>;

}  // namespace filch::bench
