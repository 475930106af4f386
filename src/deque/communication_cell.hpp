// The communication cell of a worker (Acar, Charguéraud and Rainey 2013, Figure 3): here it says that it waits to be
// dealt something, and here it gets that.
//
//     busy ──worker──> waiting ──dealer, CAS──> dealt ──worker──> busy        one step: a single task
//                       │   ^ └──dealer, CAS──> incoming ──same dealer──> dealt     two: what has to be cut first
//                       │   └──────────────────────┘ dealer: there is nothing after all
//                       └──worker, CAS──> busy          waits no more
//
// What was dealt and not collected yet, its dealer may take back: dealt ──dealer, CAS──> busy.
//
// Deviations: waiting carries what is waited for, since workers that wait at a join take only parts of the task that
// they wait for; and a worker may cease to wait, to do what it has found elsewhere.
//
// Who may call what: wait, cease, collect are the worker's whose cell it is; the rest any dealer's.
//
// Invariants
//  1. Only the worker itself makes a busy or dealt cell another, only the dealer that reserved it an incoming one.
//  2. What was dealt is collected or taken back, by one compare-and-swap: a worker whose wait cannot be ended any more
//     takes what comes.
#pragma once

#include <cstdint>
#include <optional>

#include <filch/platform/memory.hpp>

#include "deque/slot_range.hpp"

namespace filch::detail::deque {

/// What a worker waits for: anything (id 0), or what was made in that activation of that worker.
struct wait_filter {
  std::uint16_t of = 0;
  std::uint64_t id = 0;
};

/// What was dealt, and by whom.
struct deal {
  std::uint16_t dealer = 0;
  slot_range tasks;
};

class communication_cell {
 public:
  /// A waiting cell as a dealer saw it.
  struct view {
    std::uint64_t word;
    wait_filter wanted;
  };

  /// Begins to wait, with room for that many proxies.
  void wait(wait_filter wanted, std::uint32_t room) noexcept;
  /// Has the wait been ended by a dealer? Does the worker not wait at all?
  [[nodiscard]] bool is_waiting() const noexcept;
  [[nodiscard]] bool is_busy() const noexcept;
  /// Waits no more. False: something is dealt, or will be in a moment.
  [[nodiscard]] bool cease() noexcept;
  /// What was dealt; the cell is busy then. Nothing: it is not there yet, or was taken back, and the cell is busy.
  [[nodiscard]] std::optional<deal> collect() noexcept;

  /// Nothing, if the worker does not wait.
  [[nodiscard]] std::optional<view> look() const noexcept;
  /// One step. False: somebody else was faster.
  [[nodiscard]] bool put(const view& seen, deal what) noexcept;
  /// The first of two steps. False: somebody else was faster.
  [[nodiscard]] bool reserve(const view& seen) noexcept;
  /// A reserved cell: how many proxies the worker has room for.
  [[nodiscard]] std::uint32_t room() const noexcept { return room_.load(); }
  /// The second step: what comes, or that nothing does.
  void fill(deal what) noexcept;
  void give_up(const view& seen) noexcept;
  /// What was dealt and not collected yet, as far as one can see.
  [[nodiscard]] std::optional<deal> uncollected() const noexcept;
  /// The dealer of that takes it back. False: it was collected.
  [[nodiscard]] bool take_back(deal what) noexcept;

 private:
  platform::atomic<std::uint64_t> word_{0};
  platform::shared<std::uint32_t> room_{0};  ///< handed to the dealer that reserves the cell
};

}  // namespace filch::detail::deque
