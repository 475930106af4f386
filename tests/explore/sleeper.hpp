// A wait of which nothing is known but that somebody wakes the worker, or asks it for work.
#pragma once

#include "worker/interrupter.hpp"
#include "worker/wait.hpp"

namespace filch::explore {

class sleeper : public detail::waiting_worker {
 public:
  using detail::waiting_worker::waiting_worker;
  void sleep() noexcept {
    doze_unless([] { return false; }, [] { return detail::interrupter::never; });
  }
};

}  // namespace filch::explore
