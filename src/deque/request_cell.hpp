// The request cell of a worker that keeps its tasks private (Acar, Charguéraud and Rainey 2013, Figure 2): here thieves
// ask it for some.
//
//     closed ──owner──> open ──thief, CAS──> asked ──owner, CAS──> closed     the owner will answer
//       ^                │                     └────thief, CAS──> closed     the thief asks no more
//       └──owner, CAS────┘
//
// Open: the owner had something to give when it looked last. Deviations: the paper's status flag and its request cell
// are one word, so that looking at the flag and writing the request is one step and an owner that is out of work can
// refuse requests beforehand; and a thief may withdraw its request, since here a thief gives up and sleeps.
//
// Who may call what: look, claim, open and close are the owner's; put and withdraw the thief's, who has one request at
// a time in all cells; is_open any thread.
//
// Invariants
//  1. Only the owner opens the cell, and nobody but the owner changes it while it is closed.
//  2. A request in the cell ends in exactly one way, by one compare-and-swap: claimed or withdrawn. One that is claimed
//     is answered, in the thief's transfer cell.
#pragma once

#include <cstdint>
#include <optional>

#include <filch/platform/memory.hpp>

namespace filch::detail::deque {

/// Who asks, and for what was made in which of the owner's activations (0: anything).
struct request {
  std::uint16_t thief;
  std::uint64_t id;
};

class request_cell {
 public:
  enum class state : std::uint8_t { closed, open, asked };

  /// Has the owner something to give, and does nobody else ask for it?
  [[nodiscard]] bool is_open() const noexcept;
  /// Asks. False: the cell is not open.
  [[nodiscard]] bool put(request r) noexcept;
  /// Asks no more. False: the owner has claimed the request, and answers.
  [[nodiscard]] bool withdraw(request r) noexcept;

  [[nodiscard]] state look() const noexcept;
  /// Closes the cell and returns the request in it, to be answered. Nothing: there is none, or no longer.
  [[nodiscard]] std::optional<request> claim() noexcept;
  /// The cell is closed: invites requests.
  void open() noexcept;
  /// Refuses requests from now on. False: there is one already.
  [[nodiscard]] bool close() noexcept;

 private:
  platform::atomic<std::uint64_t> word_{0};
};

}  // namespace filch::detail::deque
