// The platform seam: how a thread waits for another one that is a few instructions away.
#pragma once

#include "platform/clock.hpp"

namespace filch::platform {

/// For waits that have nobody to be woken by, one object for each: pauses at first, then yields. What orders such a wait is the
/// caller's, with its tags. Where the other thread is known to take long, the caller yields at once instead.
class backoff {
 public:
  void wait() noexcept {
    if (pauses_left_ != 0) {
      --pauses_left_;
      platform::pause();
    } else {
      platform::yield();
    }
  }

 private:
  /// 50 to 100 us: the other one may be in the middle of tens of cache misses, and where the machine is full who yields is
  /// away for milliseconds. Who has waited for longer waits for a thread that the system has stopped.
  unsigned pauses_left_ = 2048;
};

}  // namespace filch::platform
