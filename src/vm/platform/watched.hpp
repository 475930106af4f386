// The platform seam on the virtual machine: nobody looks at its schedulers from outside, and they share nothing.
#pragma once

#include <filch/watched.hpp>

namespace filch::platform {

class watched_entry {
 public:
  explicit watched_entry(const watched::scheduler& /*what*/) noexcept {}
};

}  // namespace filch::platform
