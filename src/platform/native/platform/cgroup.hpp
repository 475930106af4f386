// The platform seam: how much processor time the process's control group grants.
#pragma once

#include <filesystem>

namespace filch::platform {

/// The CPU quota of the process in processors, 0 when there is none: the least of all control groups it is in, version
/// 1 and 2. `root` is where the system's file tree begins; tests give a fixture.
double cgroup_quota(const std::filesystem::path& root = "/");

}  // namespace filch::platform
