// The network between the nodes of the many-core machine: what is on its way, and when it arrives. Figures as in LogGP
// (Alexandrov, Ionescu, Schauser and Scheiman 1995); docs/simulation.md has the formulas.
//
// It knows times but no threads: the machine says when somebody looks, and sees to it that what that one can have
// heard of has been said by then.
//
// Invariants
//  1. Messages and one-sided stores of one pair of nodes arrive in the order in which they were sent.
//  2. Whatever a node does at a time is seen by another one not before that time + lookahead().
//  3. What arrives at the same time is ordered by sender; so nothing depends on which node was simulated first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "vm/machine/machine_file.hpp"
#include "vm/machine/virtual_time.hpp"
#include "vm/world.hpp"

namespace filch::platform::vm {

class interconnect {
 public:
  interconnect(const network_costs& costs, std::size_t nodes, std::uint64_t seed);

  [[nodiscard]] picoseconds lookahead() const noexcept { return std::min({latency_, read_ / 2, atomic_ / 2}); }
  [[nodiscard]] picoseconds send_overhead() const noexcept { return send_overhead_; }
  [[nodiscard]] picoseconds receive_overhead() const noexcept { return receive_overhead_; }
  [[nodiscard]] picoseconds poll() const noexcept { return poll_; }

  /// The sender has done its part by `now`. Returns the message's number.
  std::uint64_t send(std::uint32_t from, std::uint32_t to, std::vector<std::byte>&& bytes, bool wants_receipt,
                     picoseconds now);
  /// The first message for the node that has arrived by `now`, if there is one.
  [[nodiscard]] std::optional<world::arrival> receive(std::uint32_t node, picoseconds now);
  /// Does the sender know by `now` that its message, of which it wanted a receipt, has been received? Once yes.
  [[nodiscard]] bool was_received(std::uint32_t node, std::uint64_t number, picoseconds now);

  /// Of a node; it has as many as anybody names. They begin as 0.
  [[nodiscard]] word& word_at(std::uint32_t node, std::size_t which);

  /// An access to a word of another node, on its way there.
  struct access {
    enum class kind : std::uint8_t { load, store, compare_exchange };
    kind what;
    std::uint32_t from;
    std::uint64_t number;  ///< of the sender's messages and accesses
    picoseconds at;        ///< when it happens
    picoseconds back_at;   ///< when the result is with the caller
    std::size_t which;
    word expected;
    word desired;
    fiber* caller;  ///< waits for the result; of a store nobody
  };
  /// `caller` loads, or compares and exchanges, beginning now.
  void begin_load(std::uint32_t from, std::uint32_t to, std::size_t which, fiber& caller, picoseconds now);
  void begin_compare_exchange(std::uint32_t from, std::uint32_t to, std::size_t which, word expected, word desired,
                              fiber& caller, picoseconds now);
  /// The sender has done its part by `now`.
  void begin_store(std::uint32_t from, std::uint32_t to, std::size_t which, word value, picoseconds now);
  /// When the next access to the node happens, or never.
  [[nodiscard]] picoseconds next_access(std::uint32_t node) const noexcept;
  struct performed {
    fiber* caller;  ///< null: nobody waits
    word before;    ///< what the word was
    picoseconds back_at;
  };
  /// It happens.
  performed perform_next(std::uint32_t node);

 private:
  struct parcel {
    picoseconds at;
    std::uint32_t from;
    std::uint64_t number;
    bool wants_receipt;
    std::vector<std::byte> bytes;
  };
  struct receipt {
    std::uint64_t number;
    picoseconds at;
  };
  struct end_point {
    picoseconds link_free_at = 0;  ///< what it sends leaves one after the other
    std::uint64_t sent = 0;
    std::vector<picoseconds> newest_arrival;  ///< by receiver; empty until something is sent
    std::vector<parcel> inbox;                ///< a heap
    std::vector<access> accesses;             ///< a heap
    std::vector<receipt> receipts;            ///< wanted and not yet known
    std::vector<word> words;
  };

  [[nodiscard]] picoseconds arrival(std::uint32_t from, std::uint32_t to, std::size_t bytes, picoseconds now);
  [[nodiscard]] double chance(std::uint32_t from, std::uint64_t number) const noexcept;
  void put(std::uint32_t to, const access& a);

  picoseconds latency_;
  double ns_per_byte_;
  picoseconds send_overhead_;
  picoseconds receive_overhead_;
  picoseconds read_;
  picoseconds atomic_;
  picoseconds poll_;
  double jitter_;
  std::uint64_t seed_;
  std::vector<end_point> ends_;
};

}  // namespace filch::platform::vm
