// The platform seam on the virtual machine: how many workers make sense.
#pragma once

namespace filch::platform {

/// How many workers make sense: a processor each.
int usable_workers();

/// As many as a task's state has numbers for.
inline constexpr int most_workers = (1 << 16) - 1;

}  // namespace filch::platform
