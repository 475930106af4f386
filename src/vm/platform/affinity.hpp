// The platform seam on the virtual machine: binding threads to processors.
#pragma once

#include "vm/world.hpp"

namespace filch::platform {

/// Keeps the calling thread on one processor, and puts it back to where it was.
class processor_binding {
 public:
  /// -1: does nothing.
  void begin(int processor) noexcept {
    if (processor >= 0) before_ = vm::world::current()->move_to(processor);
  }
  void end() noexcept {
    if (before_ >= 0) vm::world::current()->move_to(before_);
    before_ = -1;
  }

 private:
  int before_ = -1;
};

}  // namespace filch::platform
