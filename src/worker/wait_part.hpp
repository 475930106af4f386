// What the wakers of a worker that waits look at.
#pragma once

#include <filch/platform/memory.hpp>

namespace filch::detail {

class group_rest;

/// Of a worker that waits inside of a task, what its waker looks at.
struct wait_part {
  platform::atomic<bool> dozing{false};                ///< asleep, or nearly
  platform::atomic<const group_rest*> group{nullptr};  ///< whose detached tasks it waits for

  /// Owner: says so, before it asks others for parts of these tasks and before it sleeps. What it runs unsays it.
  void await_group(const group_rest* of) noexcept {
    // [DB6] seq_cst: before it asks. See awaits().
    if (group.load(std::memory_order_relaxed) != of) group.store(of, std::memory_order_seq_cst);
  }
  /// Owner: it waits for none.
  void await_no_group() noexcept {
    // Others may have looked at it, and mostly there is nothing to unsay. [DB6] relaxed: who finds the group here still
    // wakes this worker, or deals to it, for nothing.
    if (group.load(std::memory_order_relaxed) != nullptr) group.store(nullptr, std::memory_order_relaxed);
  }
};

}  // namespace filch::detail
