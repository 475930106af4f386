// What the waker of an idle worker looks at.
#pragma once

#include <cstdint>

#include <filch/platform/memory.hpp>

namespace filch::detail {

class worker;

/// Of a worker without work. Its waker, or the worker itself, claims it first, and lets it go when it is counted as
/// searching.
enum class sleep_state : std::uint8_t { awake, asleep, claimed };

/// Of an idle worker, what its waker looks at: see sleepers.
struct sleep_part {
  platform::atomic<sleep_state> state{sleep_state::awake};
  platform::atomic<const worker*> look_at{nullptr};  ///< where its waker has seen work
  platform::atomic<bool> announced{false};           ///< it is counted as asleep, or was a moment ago
};

}  // namespace filch::detail
