// The schedule that FILCH_RECORD writes, and FILCH_REPLAY repeats: which worker ran which task (docs/protocols/constrained.md).
//
// Each call of `run` by a thread that becomes worker 0 is a repeated part of one iteration: recorded as its first, or strict, with
// the trace of the file. A part of the schedule is known by the number of the scheduler, in the order in which they are
// made, and that of the call.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "worker/task_trace.hpp"

namespace filch::detail {

/// A scheduler's part of it. If neither variable is set, nothing happens: schedulers share nothing by it.
class process_schedule {
 public:
  [[nodiscard]] static bool is_asked_for() noexcept;
  /// Of the scheduler that is made next, in the schedule that is replayed; 0: nothing is said.
  [[nodiscard]] static int recorded_workers();

  /// Throws std::invalid_argument when the file cannot be written, or is no schedule; or of another number of workers.
  explicit process_schedule(int workers);
  /// The scheduler has all that it needs, so it is made: one that could not be made has no number. Throws as the constructor,
  /// if another one was made meanwhile.
  void take_number();

  /// The seat's owner. Throws std::bad_alloc; then nothing has begun.
  void begin_root(worker& w, const void* frame);
  void end_root(worker& w) noexcept;

 private:
  const int workers_;
  int number_ = -1;  ///< of the scheduler; -1: nothing is recorded or replayed
  int calls_ = 0;
  std::unique_ptr<task_trace> trace_;  ///< of the call in progress
};

}  // namespace filch::detail
