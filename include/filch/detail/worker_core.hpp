// The part of a worker that the inlined fast path works on (DESIGN section 1: private task stack and attention word).
//
// Who may do what: everything here belongs to the thread that the worker currently runs on, except `attention`, which
// any thread may raise. That thread may be interrupted by a thief, and then answers from a signal handler, which sees
// what is `local` (docs/protocols/interrupt.md). Where the owner is `busy` the handler leaves everything as it is.
//
// The attention word doubles as the limit of the task stack: calm, it points at the end of the stack; raised, it is
// null. One comparison at each push then covers three cases: somebody wants something, the stack is full, and the
// calling thread is no worker at all (such a thread sees `foreign_worker`, whose attention is raised for ever).
#pragma once

#include <cstdint>
#include <functional>

#include <filch/detail/loop_site.hpp>
#include <filch/detail/task.hpp>
#include <filch/loop.hpp>
#include <filch/platform/memory.hpp>

namespace filch {
class scheduler;
}

namespace filch::detail {

struct loop_frame;

/// The tasks of one group on a task stack. Those that are not empty are linked, the innermost first.
struct stack_span {
  slot* base = nullptr;
  slot* top = nullptr;
  stack_span* outer = nullptr;
  bool orphan = false;  ///< its group is gone; what is left are empty tasks. On the heap.
};

struct alignas(64) worker_core {
  platform::local<slot*> head;   ///< one past the newest task
  platform::local<slot*> guard;  ///< joins of slots below it take the slow path: max(split, base of the innermost span)
  slot* end = nullptr;           ///< end of the task stack
  scheduler* home = nullptr;     ///< the scheduler this worker belongs to
  /// Of the taken task or root it is in: an address above all frames of that on the C++ stack. None: where no group
  /// lies.
  const void* frame = this;
  platform::local<stack_span*> spans;  ///< the innermost
  platform::local<slot*> split;        ///< tasks at or above it are private; the owner's copy of what thieves see
  loop_sites* sites = nullptr;
  loop_site* site = nullptr;             ///< of the chunk it is in
  platform::local<loop_frame*> loops;    ///< the innermost of those in progress
  const loop_frame* polled = nullptr;    ///< the loop that is about to begin a chunk
  std::uint64_t epoch = 0;               ///< the newest number given to an activation, a loop or a piece
  loop_kind kind = loop_kind::standard;  ///< of loops that do not say
  platform::local<bool> busy{true};      ///< in the scheduler's own code, which must not be interrupted

  /// See above. Raised to begin with. [AT1] relaxed wherever the owner polls it: only a request to look; what the owner
  /// then looks at is ordered by the policy's own operations.
  alignas(64) platform::atomic<slot*> attention{nullptr};
  // What those look at who may interrupt it; see worker/interrupter.hpp.
  platform::atomic<std::int64_t> asked_ns{0};  ///< when it was asked to look; 0: not since it last did
  platform::atomic<bool> has_nothing{true};    ///< it has looked, had nothing to give, and looks again when it has
  platform::atomic<std::int64_t> next_interrupt_ns{0};  ///< not before that

  /// The policy moves the split point.
  void set_split(slot* to) noexcept {
    split.store(to);
    set_guard();
  }
  void set_guard() noexcept {
    for (;;) {
      slot* const s = split.load();
      const stack_span* const in = spans.load();
      guard.store(in != nullptr && in->base > s ? in->base : s);
      platform::signal_fence();
      if (split.load() == s) return;  // else an interrupt has moved it, and the guard that it had set is overwritten
    }
  }
  void link(stack_span& span) noexcept {
    span.outer = spans.load();
    platform::signal_fence();
    spans.store(&span);
    guard.store(span.base);  // no task is newer, and an interrupt moves split only up to head
  }
  void unlink(stack_span& span) noexcept {
    put_in_place_of(span, span.outer);
    set_guard();
  }
  /// In the list, `by` comes in place of `span`.
  void put_in_place_of(stack_span& span, stack_span* by) noexcept {
    if (spans.load() == &span) [[likely]] {
      spans.store(by);
    } else {
      stack_span* before = spans.load();
      while (before->outer != &span) before = before->outer;
      before->outer = by;
    }
  }

  /// True when a push into `s` has to take the slow path.
  [[nodiscard]] bool must_attend(slot* s) const noexcept {
    return std::greater_equal<>{}(s, attention.load(std::memory_order_relaxed));  // [AT1]
  }
};

/// In the scheduler's own code, which an interrupt leaves as it is. May be nested.
class busy_section {
 public:
  explicit busy_section(worker_core& w) noexcept : w_(w), before_(w.busy.load()) {
    if (before_) return;
    w.busy.store(true);
    platform::signal_fence();
  }
  ~busy_section() {
    if (before_) return;
    platform::signal_fence();
    w_.busy.store(false);
  }
  busy_section(const busy_section&) = delete;
  busy_section& operator=(const busy_section&) = delete;

 private:
  worker_core& w_;
  bool before_;
};

/// The opposite: what is called from there is not the scheduler's own code.
class open_section {
 public:
  explicit open_section(worker_core& w) noexcept : w_(w) {
    platform::signal_fence();
    w.busy.store(false);
  }
  ~open_section() {
    w_.busy.store(true);
    platform::signal_fence();
  }
  open_section(const open_section&) = delete;
  open_section& operator=(const open_section&) = delete;

 private:
  worker_core& w_;
};

/// A number for a new loop.
inline std::uint64_t next_number(worker_core& w) noexcept {
  const busy_section counting(w);  // who interrupts may number pieces
  return ++w.epoch;
}

/// The calling worker is in a chunk of a loop or reduction, and says so to the one around it.
class inside_site {
 public:
  inside_site(worker_core& w, loop_site& site) noexcept : w_(w), outer_(w.site) {
    if (outer_ != nullptr) outer_->contains_loops();
    w.site = &site;
  }
  ~inside_site() { w_.site = outer_; }
  inside_site(const inside_site&) = delete;
  inside_site& operator=(const inside_site&) = delete;

 private:
  worker_core& w_;
  loop_site* outer_;
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

/// Time since it was made, in nanoseconds.
class chunk_timer {
 public:
  chunk_timer() noexcept;
  [[nodiscard]] std::int64_t ns() const noexcept;

 private:
  std::int64_t since_;
};

/// Pushes when the fast path may not: answers attention; leaves a full stack as it is, so that the task stays where the
/// owner's join will find and run it.
[[gnu::cold, gnu::noinline]] void push_attending(worker_core& w, slot& s, task_function run, void* context) noexcept;

/// Attends to whatever raised the attention word. Owner only.
[[gnu::cold, gnu::noinline]] void attend(worker_core& w) noexcept;

/// Joins a task below the guard. Detaches the tasks that a group left above it (a group that was made in this branch
/// and outlives it); then, if the task has been offered, takes it back or waits for its thief.
[[gnu::cold, gnu::noinline]] join_result join_guarded(worker_core& w, slot& s) noexcept;

/// Ends the spans at `base` and above that outlived the groups they belonged to: the activation that began there is
/// over.
[[gnu::cold, gnu::noinline]] void settle(worker_core& w, slot* base) noexcept;

/// Ends the top task of the stack after its sibling threw: takes it off unless somebody else has it, whom it waits for.
[[gnu::cold, gnu::noinline]] join_result abandon(worker_core& w, slot& s) noexcept;

}  // namespace filch::detail
