// The platform seam: what the calling thread has had of a processor.
#pragma once

#include <cstdint>

namespace filch::platform {

struct processor_time {
  std::int64_t ns;
  std::uint64_t waits;  ///< times that the thread has given the processor away, to wait for something
};

/// Half a microsecond.
[[nodiscard]] processor_time time_of_this_thread() noexcept;

}  // namespace filch::platform
