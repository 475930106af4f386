// Whom to interrupt, and what has come of it.
#pragma once

#include <filch/platform/memory.hpp>

#include "platform/interrupt.hpp"

namespace filch::detail {

/// What interrupts need, beside asked_part: docs/protocols/interrupt.md.
struct interrupt_part {
  platform::atomic<platform::thread_id> thread{platform::no_thread};  ///< any thread may interrupt it
  // The owner's.
  bool handling = false;  ///< it is in its signal handler
  bool gave = false;      ///< in there, and has answered those who wait
  unsigned in_vain = 0;   ///< times in succession
};

}  // namespace filch::detail
