// The platform seam on the virtual machine: putting one virtual worker to sleep and waking it again.
#pragma once

#include <cstdint>

#include "vm/world.hpp"

namespace filch::platform {

/// A binary token, as on the native platform, except that `park` may also return without one: callers have to look for
/// their reason again, and the explorer sees to it that they do.
class parker {
 public:
  parker() {
    if (vm::world* const w = vm::world::current()) w->begin(stamp);
  }
  parker(const parker&) = delete;
  parker& operator=(const parker&) = delete;
  /// There are no affinity masks here.
  void bind_while_asleep() noexcept {}
  void park() noexcept { park_until(vm::world::forever); }
  /// The same, but goes without a token at that time.
  void park_until(std::int64_t deadline_ns) noexcept { vm::world::current()->park(*this, deadline_ns); }
  void unpark() noexcept { vm::world::current()->unpark(*this); }

  // The world's.
  bool token = false;
  vm::fiber* sleeper = nullptr;
  vm::word stamp = 0;  ///< an atomic object, through which the token's giver and taker synchronise
};

}  // namespace filch::platform
