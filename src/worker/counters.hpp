// What is counted of one worker.
#pragma once

#include <cstdint>

#include <filch/platform/memory.hpp>

#include "worker/idle_time.hpp"

namespace filch::detail {

/// Counters of one worker, named as in statistics.hpp. The owner counts; any thread reads.
struct counters {
  using value = platform::atomic<std::uint64_t>;
  value steals{0}, failed_steals{0}, leaps{0}, grows{0}, shrinks{0}, offers{0}, splits{0}, transactions{0},
      synchronizations{0}, coalesced{0}, migrations{0}, parks{0}, interrupts{0}, transfer_attempts{0},
      transfer_wait_ns{0}, bad_hints{0};
  idle_time idle;     ///< without a task
  idle_time waiting;  ///< for what others run
};

}  // namespace filch::detail
