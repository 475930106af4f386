// The platform seam on the virtual machine, where nobody asks.
#pragma once

#include <cstdint>

namespace filch::platform {

struct processor_time {
  std::int64_t ns;
  std::uint64_t waits;
};

[[nodiscard]] inline processor_time time_of_this_thread() noexcept { return {}; }

class processor_clock {
 public:
  void begin_on_this_thread() noexcept {}
  [[nodiscard]] std::int64_t had_since_last_look() noexcept { return 0; }
};

}  // namespace filch::platform
