// The platform seam on the virtual machine: reserved memory that costs nothing until it is touched.
#pragma once

#include "platform/reserve.hpp"
#include "vm/world.hpp"

namespace filch::platform {

/// The world forgets the objects in it when it ends.
class mapping : public reservation {
 public:
  using reservation::reservation;
  ~mapping() {
    if (vm::world* const w = vm::world::current()) w->forget(data(), bytes());
  }
  mapping(const mapping&) = delete;
  mapping& operator=(const mapping&) = delete;
};

}  // namespace filch::platform
