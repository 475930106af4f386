// A task as the scheduler sees it, and the slot of a task stack that holds it.
//
// Invariants
//  1. A task that was never offered is touched by its owner alone; its `state` then has no meaning.
//  2. `state` is set to `pending`, of a piece `offered`, by the owner before the task becomes visible to thieves, to `taken` (or
//     `batched`) by the thief that won it, and to `done` or `failed` by whoever ran it; the owner reads the last two at its join.
//  3. A slot is not reused before its owner's join, so that a thief may run a task in place.
#pragma once

#include <cstddef>
#include <cstdint>

#include <filch/platform/memory.hpp>

namespace filch::detail {

struct task;

enum class run_result : std::uint8_t {
  done,     ///< finished; the task still exists
  failed,   ///< finished with an exception, which the task's frame holds
  released  ///< finished and told whoever waits; the task must not be touched again
};

/// Who runs a task: its owner, who gives up the slot as it does so; or somebody who leaves the slot to the owner's
/// join: a thief, or the owner itself below newer tasks.
enum class run_by : std::uint8_t { owner, in_place };

using task_function = run_result (*)(task&, run_by);

struct task {
  platform::shared<task_function> run;
  platform::atomic<std::uint64_t> state;  ///< a task_state; see src/worker/task_state.hpp
};

/// Largest closure, in bytes, that is kept in the slot itself.
inline constexpr std::size_t closure_bytes = 40;

/// One task of a task stack: a cache line.
struct alignas(64) slot : task {
  platform::shared<void*> context;   ///< fork_join: its frame, if it has one; task_group: the group
  std::byte closure[closure_bytes];  ///< the closure; of fork_join, its result in the end
};
static_assert(sizeof(slot) == 64);

}  // namespace filch::detail
