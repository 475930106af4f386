// Of a scheduler what other processes may read.
#pragma once

#include <filch/watched.hpp>

#include "scheduler/configuration.hpp"
#include "worker/team.hpp"

namespace filch::detail {

/// All but what the platform fills in. The team has its first worker.
[[nodiscard]] watched::scheduler watched_parts(const team& everybody, const configuration& chosen) noexcept;

}  // namespace filch::detail
