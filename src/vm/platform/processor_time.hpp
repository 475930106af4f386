// The platform seam on the virtual machine, where nobody asks.
#pragma once

#include <cstdint>

namespace filch::platform {

struct processor_time {
  std::int64_t ns;
  std::uint64_t waits;
};

[[nodiscard]] inline processor_time time_of_this_thread() noexcept { return {}; }

}  // namespace filch::platform
