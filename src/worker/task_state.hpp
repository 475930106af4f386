// The state word of a task: what has become of it, who has it, and in which activation.
//
//     pending -> taken -> done | failed             one task stolen
//     pending -> batched -> taken -> done | failed  one of several stolen together, not begun yet
//     batched -> reclaimed                          its owner took it back before anybody began
//     offered -> taken -> done                      a piece of a loop
//     offered -> offered                            the same, shortened: a new version
//     offered -> reclaimed                          its owner took it back
//     given -> taken -> done | failed               a task that was put into another worker's inbox
//
// `waiting` may be added to a taken or given state by the owner, who then sleeps until the task is done.
#pragma once

#include <cstdint>

#include <filch/detail/numbers.hpp>
#include <filch/detail/task.hpp>

namespace filch::detail {

enum class task_status : std::uint8_t { pending, taken, batched, reclaimed, done, failed, offered, given };

struct task_state {
  task_status status = task_status::pending;
  bool waiting = false;
  std::uint16_t thief = 0;  ///< number of the worker that has it
  std::uint64_t id = 0;     ///< id_bits: of that worker's activation (taken) or batch (batched); version (offered)

  [[nodiscard]] static task_state unpack(std::uint64_t word) noexcept {
    return {.status = static_cast<task_status>(word & 7),
            .waiting = ((word >> 3) & 1) != 0,
            .thief = static_cast<std::uint16_t>(word >> 4),
            .id = word >> 20};
  }
  [[nodiscard]] std::uint64_t pack() const noexcept {
    return static_cast<std::uint64_t>(status) | (waiting ? 8U : 0U) | (std::uint64_t{thief} << 4) | (id << 20);
  }
  [[nodiscard]] bool finished() const noexcept { return status == task_status::done || status == task_status::failed; }
};

/// A taken task as a waiter knows it: worker `thief` runs it as its activation `id`.
struct lineage {
  std::uint16_t thief;
  std::uint64_t id;
};

}  // namespace filch::detail
