// What a scheduler counted.
#pragma once

#include <cstdint>

namespace filch {

/// Totals over all workers of a scheduler since it started or was last reset. Nothing is counted on the fast path:
/// every number stands for an event between workers, or for time without work. Steals, leaps, grows and shrinks are
/// those of Figure 7 of the Lace paper.
struct statistics {
  std::uint64_t steals = 0;         ///< times an idle worker took a task, or several at once
  std::uint64_t failed_steals = 0;  ///< attempts of idle workers that found nothing or lost a race
  std::uint64_t leaps = 0;          ///< tasks taken by a worker that waits for another task
  std::uint64_t grows = 0;          ///< an owner moved its split point up
  std::uint64_t shrinks = 0;        ///< an owner moved its split point down to take tasks back
  std::uint64_t offers = 0;         ///< times an owner made tasks visible to thieves
  std::uint64_t splits = 0;         ///< times a loop or a bag was cut because work was wanted
  /// Pieces of loops put on offer, taken, taken back or shortened, and chunks of bags shared, taken or taken back: the
  /// deque transactions of the lazy-scheduling paper.
  std::uint64_t transactions = 0;
  /// Parts of loops that ended with a look whether other workers still run pieces of them. With `coalesced`, the
  /// synchronization points of that paper.
  std::uint64_t synchronizations = 0;
  /// Times a part of a loop went on with a piece that nobody had taken, without such a look.
  std::uint64_t coalesced = 0;
  std::uint64_t migrations = 0;  ///< tasks handed to another worker by their owner
  std::uint64_t parks = 0;       ///< times a worker went to sleep
  std::uint64_t interrupts = 0;  ///< times a worker answered from a signal handler, in the middle of a task
  /// Policies receiver and sender: times that something might have been handed over. Requests that were answered, or
  /// attempts of an owner with something to give to deal it.
  std::uint64_t transfer_attempts = 0;
  /// Nanoseconds that these took to come: from a request until its answer or its withdrawal; or, of an owner that has
  /// something to give while somebody is idle, since its last look. Divided by the attempts it is the communication
  /// delay of the private-deques paper.
  std::uint64_t transfer_wait_ns = 0;
  std::uint64_t bad_hints = 0;  ///< work hints that were no amounts, or more than was left, and were corrected
  std::uint64_t idle_ns = 0;    ///< nanoseconds that workers had no task at all, awake or asleep
  std::uint64_t wait_ns = 0;    ///< nanoseconds that workers waited for somebody else's part, with nothing to help with
};

}  // namespace filch
