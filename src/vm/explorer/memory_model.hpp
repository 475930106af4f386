// What loads may read: the memory of C++20 without its thin air, for a handful of threads.
//
// Every atomic object has a history: the stores that a load may still read, in modification order. Every thread has a
// vector clock: how far into each other thread's events its past (happens-before) reaches. From these:
//
//  - A load may read any store not older, in modification order, than the newest one that its past contains (coherence:
//    a store that happened before, or one that a load read which happened before).
//  - A store is placed after the newest one that its past contains; usually last, but an earlier place is allowed too,
//    as in the litmus test 2+2W. A read-modify-write is placed right behind the store it reads, and nothing is placed in
//    between ever after.
//  - Release and acquire: a store carries its thread's clock if it is a release; a read-modify-write also carries what
//    the store it read carries (release sequences); an acquiring load takes over what the store it reads carries.
//  - Sequentially consistent operations: their total order S is the order in which the explorer executes them, and all
//    orders are explored. C++20 asks that S agrees with the coherence order of each object; so such an operation reads
//    no older, and writes no earlier, than what an earlier operation of S on the object has read or written. This is
//    exact for accesses; there are no fences (the sources have none).
//
// Stronger than C++20 (behaviours that are not explored):
//  - No load reads a store that has not been executed (no load buffering: RC11).
//  - A history keeps the newest `longest_history` stores.
//  - Of what other threads have read, `longest_memory` events per object and thread are kept; the rest is taken to have
//    happened earlier than it did.
//  - mutexes and parkers are not weakened.
//
// Plain objects are checked for data races by the same clocks.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "vm/explorer/address_table.hpp"
#include "vm/explorer/strategy.hpp"
#include "vm/world.hpp"

namespace filch::platform::vm {

class memory_model {
 public:
  static constexpr std::uint32_t most_threads = 16;
  static constexpr std::size_t longest_history = 8;
  static constexpr std::size_t longest_memory = 4;

  using clock = std::array<std::uint32_t, most_threads>;

  /// Begins anew: nothing is known of any object.
  void reset(strategy& choices) noexcept;
  /// `child` begins with the past of `parent`; `thread` goes on with the past of `ended` as well.
  void fork(std::uint32_t parent, std::uint32_t child) noexcept;
  void join(std::uint32_t thread, std::uint32_t ended) noexcept;

  /// What an operation did, for the record.
  struct outcome {
    word value = 0;            ///< read, or stored
    std::uint32_t object = 0;  ///< number of the object, in the order of first use
    std::uint32_t age = 0;     ///< how many newer stores there were; of a store: how many it was placed before
    bool succeeded = true;
  };

  void begin(std::uint32_t thread, word& at);
  /// So many objects had begun in this run before the one with that number. It is the same in every run with the same
  /// choices, whether the object lies in fresh memory or where another one has been.
  [[nodiscard]] std::uint32_t begun_as(std::uint32_t number) const noexcept { return objects_[number].begun_as; }
  outcome load(std::uint32_t thread, word& at, std::memory_order order);
  outcome store(std::uint32_t thread, word& at, word value, std::memory_order order);
  outcome modify(std::uint32_t thread, word& at, modification by, word operand, std::memory_order order);
  outcome compare_exchange(std::uint32_t thread, word& at, word expected, word desired, world::exchange_orders orders);
  /// A read-modify-write of the newest store, without choices.
  void synchronize(std::uint32_t thread, word& at, std::memory_order order);
  /// The thread reads the newest store, without choices. Returns the object's number.
  std::uint32_t look(std::uint32_t thread, word& at);

  // Messages, which carry a past from one thread to another.
  [[nodiscard]] clock tell(std::uint32_t thread) noexcept;
  void learn(std::uint32_t thread, const clock& told) noexcept;

  // Plain objects. False: this access races with an earlier one.
  [[nodiscard]] bool read(std::uint32_t thread, const void* at);
  [[nodiscard]] bool write(std::uint32_t thread, const void* at);
  void forget(const void* at, std::size_t bytes) noexcept;

  /// Is there a newer store than the one the thread has read last? Then it will read that one from now on.
  bool catch_up(std::uint32_t thread, std::uint32_t object) noexcept;
  /// The operation that was reported last used the object before its construction had happened.
  [[nodiscard]] bool too_early() const noexcept { return too_early_; }

 private:
  /// Places in modification orders; far apart, so that there is always one in between.
  using place = std::uint64_t;
  static constexpr place gap = place{1} << 40;

  struct message {
    word value;
    place at;
    bool modified;  ///< a read-modify-write has read it, and stands right behind it
    bool releases;
    clock released;
    std::uint32_t weakly_by = most_threads;  ///< if a plain store that is not sequentially consistent: of that thread
  };
  /// Up to which store of an object a thread's past reached at an event of that thread.
  struct memory {
    std::uint32_t event;
    place at;
  };
  struct memories {
    std::uint32_t n = 0;
    std::array<memory, longest_memory> of;
  };
  struct object {
    const void* address = nullptr;
    std::uint32_t number = 0;
    std::uint32_t begun_as = 0;
    std::vector<message> history;
    std::uint32_t threads = 0;  ///< one bit for each that has used it
    std::array<memories, most_threads> seen;
    place ordered = 0;  ///< the newest place that a sequentially consistent operation has read or written
    std::uint32_t maker = most_threads;
    std::uint32_t made = 0;
  };
  struct plain {
    const void* address = nullptr;
    std::uint32_t writer = most_threads;
    std::uint32_t written = 0;
    std::uint32_t readers = 0;
    clock read{};
  };

  object& find(std::uint32_t thread, word& at);
  void clear(object& o, const word& at);
  [[nodiscard]] place past(std::uint32_t thread, const object& o) const noexcept;
  [[nodiscard]] std::size_t oldest_readable(std::uint32_t thread, const object& o, std::memory_order order) const;
  void remember(std::uint32_t thread, object& o, place at) noexcept;
  void finish_read(std::uint32_t thread, object& o, std::size_t position, std::memory_order order);
  void insert(std::uint32_t thread, object& o, std::size_t position, word value, std::memory_order order,
              const message* read, word& at);
  outcome modify_at(std::uint32_t thread, object& o, word& at, std::size_t position, word value,
                    std::memory_order order);
  plain& find_plain(const void* at);

  strategy* choices_ = nullptr;
  std::array<clock, most_threads> clocks_{};
  address_table<object> objects_;
  std::uint32_t begun_ = 0;
  address_table<plain> plains_;
  bool too_early_ = false;
};

}  // namespace filch::platform::vm
