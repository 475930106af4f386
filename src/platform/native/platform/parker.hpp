// The platform seam: putting one thread to sleep and waking it again.
#pragma once

#include <cstdint>

#include <filch/platform/memory.hpp>

namespace filch::platform {

/// A binary token. `park` takes it, sleeping until there is one; `unpark` leaves it. An `unpark` that comes first is
/// not lost. One thread parks; any thread unparks.
class parker {
 public:
  /// Takes the token, sleeping until somebody leaves one. Owner only.
  void park() noexcept;
  /// Leaves a token and wakes the owner when it sleeps. Any thread; one system call at most.
  void unpark() noexcept;

 private:
  enum : std::uint32_t { empty, token, parked };
  atomic<std::uint32_t> state_{empty};
};

}  // namespace filch::platform
