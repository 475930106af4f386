// filch's own constructs, as a user writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <filch/filch.hpp>

#include "for_each_task.hpp"
#include "plain_repetition.hpp"

namespace filch::bench {

struct filch_peer {
  template <class F, class G>
  [[gnu::always_inline]] static auto fork_join(F&& f, G&& g) {
    return filch::fork_join(std::forward<F>(f), std::forward<G>(g));
  }

  using group = filch::task_group;
  using hinted_group = filch::task_group;

  template <class Body>
  [[gnu::always_inline]] static void for_each_index(std::uint64_t n, const Body& body, std::uint64_t grain = 0) {
    filch::parallel_for(std::uint64_t{0}, n, body, {.grain = grain});
  }

  template <class Body>
  [[gnu::always_inline]] static void for_each_block(std::uint64_t rows, std::uint64_t columns, const Body& body) {
    using block = filch::blocked_range2d<std::uint64_t>;
    filch::parallel_for(block(0, rows, 0, columns), [&](const block& part) {
      body(part.rows().begin(), part.rows().end(), part.cols().begin(), part.cols().end());
    });
  }

  using repeated_part = filch::repeated;
  using repeated_loop = plain_repeated_loop<filch_peer>;

  /// Throws std::invalid_argument under policies that have no static loops.
  template <class Body>
  static void for_each_part(std::uint64_t parts, const Body& body) {
    filch::parallel_for(std::uint64_t{0}, parts, body, loop::fixed{});
  }

  /// Inside of `scheduler::run`.
  static int workers() { return filch::this_worker().scheduler->workers(); }
  static std::uintptr_t this_worker() { return static_cast<std::uintptr_t>(filch::this_worker()); }
  static constexpr bool prefers_loops = false;

  template <class T, class Value, class Combine>
  [[gnu::always_inline]] static T reduce(std::uint64_t n, const T& identity, const Value& value, const Combine& combine,
                                         std::uint64_t grain = 0) {
    return filch::parallel_reduce(std::uint64_t{0}, n, identity, value, combine, grain);
  }

  /// See serial_peer.
  template <class Item, class Body>
  static void for_each_dynamic(const Item& first, const Body& body, sharing how) {
    filch::for_each_dynamic(
        &first, &first + 1,
        [&](Item& item, feeder<Item>& more) { body(item, [&](Item&& next) { more.push(std::move(next)); }); }, how);
  }

  /// See serial_peer.
  template <class Item, class Body>
  static void for_each_task(const Item& first, const Body& body) {
    bench::for_each_task<group>(first, body);
  }

  /// See serial_peer.
  template <class Task>
  static void adaptive(Task&& task, std::size_t budget, termination end) {
    filch::adaptive(task, {.budget = budget, .end = end});
  }
};

}  // namespace filch::bench
