// The part of a worker that the inlined fast path works on (DESIGN section 1: private task stack and attention word).
//
// Who may do what: everything here belongs to the thread that the worker currently runs on, except `attention`, which
// any thread may raise.
//
// The attention word doubles as the limit of the task stack: calm, it points at the end of the stack; raised, it is
// null. One comparison at each push then covers three cases: somebody wants something, the stack is full, and the
// calling thread is no worker at all (such a thread sees `foreign_worker`, whose attention is raised for ever).
#pragma once

#include <cstdint>
#include <functional>

#include <filch/detail/task.hpp>
#include <filch/platform/memory.hpp>

namespace filch {
class scheduler;
}

namespace filch::detail {

struct alignas(64) worker_core {
  platform::local<slot*> head;   ///< one past the newest task
  platform::local<slot*> split;  ///< tasks at or above it are private; the owner's copy of what thieves see
  slot* end = nullptr;           ///< end of the task stack
  scheduler* home = nullptr;     ///< the scheduler this worker belongs to
  std::uint64_t activation = 0;  ///< which taken task or root the worker is in; a new number for each
  const void* frame = nullptr;   ///< an address on the C++ stack above every frame of that task

  /// See above. Raised to begin with. [AT1] relaxed wherever the owner polls it: only a request to look; what the owner
  /// then looks at is ordered by the policy's own operations.
  alignas(64) platform::atomic<slot*> attention{nullptr};

  /// True when a push into `s` has to take the slow path.
  [[nodiscard]] bool must_attend(slot* s) const noexcept {
    return std::greater_equal<>{}(s, attention.load(std::memory_order_relaxed));  // [AT1]
  }
};

/// What `self` refers to on a thread that is no worker. Never written.
extern worker_core foreign_worker;

/// The worker of the calling thread. Constant for as long as a task runs: a task never changes threads.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local worker_core* self;

enum class join_result : std::uint8_t {
  reclaimed,  ///< the task is private again and off the stack: the owner runs it
  done,       ///< somebody else ran it
  failed      ///< somebody else ran it, and it threw
};

/// Pushes when the fast path may not: answers attention; leaves a full stack as it is, so that the task stays where the
/// owner's join will find and run it.
[[gnu::cold, gnu::noinline]] void push_attending(worker_core& w, slot& s, run_result (*run)(task&, run_by),
                                                 void* context) noexcept;

/// Attends to whatever raised the attention word. Owner only.
[[gnu::cold, gnu::noinline]] void attend(worker_core& w) noexcept;

/// Joins a task that has been offered: takes it back, or waits for its thief.
[[gnu::cold, gnu::noinline]] join_result join_offered(worker_core& w, slot& s) noexcept;

/// Ends the top task of the stack after its sibling threw: takes it off unless somebody else has it, whom it waits for.
[[gnu::cold, gnu::noinline]] join_result abandon(worker_core& w, slot& s) noexcept;

}  // namespace filch::detail
