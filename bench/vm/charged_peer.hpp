// filch's constructs on the virtual machine: the instructions of the fast path are charged, its memory operations the
// machine charges itself. Of a loop, entering it is charged as one task; its chunks are free but for what they share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <filch/filch.hpp>
#include <filch/vm.hpp>

#include "filch_peer.hpp"
#include "for_each_task.hpp"
#include "plain_repetition.hpp"

namespace filch::bench {

/// Of one task, from its push to its join.
inline vm::work spawn("spawn");

struct charged_peer {
  template <class F, class G>
  static auto fork_join(F&& f, G&& g) {
    spawn.done();
    return filch_peer::fork_join(std::forward<F>(f), std::forward<G>(g));
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
    filch_peer::group group_;
  };

  class hinted_group {
   public:
    explicit hinted_group(double total) : group_(total) {}
    template <class F>
    void run(F&& f, double work) {
      spawn.done();
      group_.run(std::forward<F>(f), work);
    }
    void wait() { group_.wait(); }

   private:
    filch_peer::hinted_group group_;
  };

  template <class Body>
  static void for_each_index(std::uint64_t n, const Body& body, std::uint64_t grain = 0) {
    spawn.done();
    filch_peer::for_each_index(n, body, grain);
  }

  template <class Body>
  static void for_each_block(std::uint64_t rows, std::uint64_t columns, const Body& body) {
    spawn.done();
    filch_peer::for_each_block(rows, columns, body);
  }

  using repeated_part = filch::repeated;
  using repeated_loop = plain_repeated_loop<charged_peer>;

  template <class Body>
  static void for_each_part(std::uint64_t parts, const Body& body) {
    spawn.done();
    filch_peer::for_each_part(parts, body);
  }

  static int workers() { return filch_peer::workers(); }
  static std::uintptr_t this_worker() { return filch_peer::this_worker(); }
  static constexpr bool prefers_loops = false;

  template <class T, class Value, class Combine>
  static T reduce(std::uint64_t n, const T& identity, const Value& value, const Combine& combine,
                  std::uint64_t grain = 0) {
    spawn.done();
    return filch_peer::reduce(n, identity, value, combine, grain);
  }

  /// See serial_peer. An item is charged by its body; to push and pop it is free.
  template <class Item, class Body>
  static void for_each_dynamic(const Item& first, const Body& body, sharing how) {
    filch_peer::for_each_dynamic(first, body, how);
  }

  /// See serial_peer.
  template <class Item, class Body>
  static void for_each_task(const Item& first, const Body& body) {
    bench::for_each_task<group>(first, body);
  }

  /// See serial_peer. Its steps are charged by what they do.
  template <class Task>
  static void adaptive(Task&& task, std::size_t budget, termination end) {
    spawn.done();
    filch_peer::adaptive(std::forward<Task>(task), budget, end);
  }
};

}  // namespace filch::bench
