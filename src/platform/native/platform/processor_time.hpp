// The platform seam: what the calling thread has had of a processor.
#pragma once

#include <cstdint>

#include <time.h>

#include <filch/platform/memory.hpp>

namespace filch::platform {

struct processor_time {
  std::int64_t ns;
  std::uint64_t waits;  ///< times that the thread has given the processor away, to wait for something
};

/// Half a microsecond.
[[nodiscard]] processor_time time_of_this_thread() noexcept;

/// What the thread of somebody else has of processors.
class processor_clock {
 public:
  /// It is the calling thread's from now on.
  void begin_on_this_thread() noexcept;
  /// One other thread. What the thread has had since the last call, in nanoseconds; 0 when that was of another thread, or the
  /// thread has ended. A third of a microsecond.
  [[nodiscard]] std::int64_t had_since_last_look() noexcept;

 private:
  static constexpr clockid_t of_nobody = 0;
  atomic<clockid_t> of_{of_nobody};
  // Of who looks.
  clockid_t looked_at_ = of_nobody;
  std::int64_t last_ns_ = 0;
};

}  // namespace filch::platform
