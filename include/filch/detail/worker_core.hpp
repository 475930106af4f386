// The part of a worker that the inlined fast path works on: private task stack and attention word.
//
// Who may do what: everything here belongs to the thread that the worker currently runs on, except `attention`, which
// any thread may raise. That thread may be interrupted by a thief, and then answers from a signal handler, which sees
// what is `local` (docs/protocols/interrupt.md). Where the owner is `busy` the handler leaves everything as it is.
//
// The attention word doubles as the limit of the task stack: calm, it points at the end of the stack; raised, it is
// null. One comparison at each push then covers three cases: somebody wants something, the stack is full, and the
// calling thread is no worker at all (such a thread sees `foreign_worker`, whose attention is raised for ever).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include <filch/config.hpp>
#include <filch/detail/chunk_tuner.hpp>
#include <filch/detail/loaded_module.hpp>
#include <filch/detail/numbers.hpp>
#include <filch/detail/task.hpp>
#include <filch/loop.hpp>
#include <filch/platform/memory.hpp>

namespace filch::detail {

class scheduler_core;
class task_trace;
struct given_task;
struct work_share;

/// An interval on the line of workers, [right, left), in 32.32 numbers: docs/protocols/adws.md.
struct worker_range {
  std::uint64_t right = 0;
  std::uint64_t left = 0;
};

/// Which task of a repeated part a worker runs: docs/protocols/constrained.md.
struct task_path {
  task_trace* trace = nullptr;  ///< of the part; null: the task is in none
  std::uint64_t id = 0;
  std::uint64_t children = 0;  ///< that it has made
};

/// What a policy knows of the place of a task among the workers: its range (adws), or its path (constrained).
struct task_place {
  worker_range range;
  task_path path;

  /// Is the task one of those that are divided by ranges?
  [[nodiscard]] bool is_by_range() const noexcept { return range.left != 0; }
  /// Do constructs of the task ask where its children go?
  [[nodiscard]] bool is_known() const noexcept { return is_by_range() || path.trace != nullptr; }
};

/// Consecutive tasks of one group on a task stack, in spawn order. A group has one run while it is the innermost, and
/// further ones where other tasks lie in between. Adjacent runs, of any groups, are a block. Kept beside the first slot.
/// The order: a compiler would copy two neighbours at once, and then wait for the stores of each.
struct group_run {
  slot* older_first;      ///< the same group's next older run; null: none
  slot* outer_block;      ///< of the first run of a block: the worker's next older block; null: none
  slot* older_last;       ///< one past the newest task of the next older run; if there is one
  slot* outer_block_end;  ///< of the first run of a block: one past the next older block; if there is one
};

/// For workers without a thread.
inline constexpr unsigned int none_in_flight = 0;

/// What is said of the innermost activation of a worker, or of its root.
struct innermost_part {
  const void* frame = this;      ///< an address above all of its frames on the C++ stack; or one where no group lies
  slot* floor = nullptr;         ///< where its tasks begin
  chunk_tuner* tuner = nullptr;  ///< of the chunk that it is in
  unsigned int unwinding = 0;    ///< exceptions in flight on its thread when it began
};

/// The runs of groups on a worker's stack.
struct group_part {
  platform::local<slot*> newest_block;  ///< its first slot; null: none. Its tasks may be joined
  slot* block_end = nullptr;            ///< one past its last slot; if there is one
  group_run* runs = nullptr;            ///< beside the slots: runs[i] is of the run that begins at base[i]
};

/// The loops and bags that a worker is in.
struct loop_part {
  chunk_tuners* tuners = nullptr;
  platform::local<work_share*> innermost;
  const work_share* polled = nullptr;    ///< the one that is about to begin a chunk
  loop_kind kind = loop_kind::standard;  ///< of loops that do not say
};

/// What those look at who may interrupt a worker; see worker/interrupter.hpp.
struct asked_part {
  platform::atomic<std::int64_t> since_ns{0};  ///< when it was asked to look; 0: not since it last did
  platform::atomic<bool> has_nothing{true};    ///< it has looked, in vain, and looks again when it has something
  platform::atomic<std::int64_t> next_interrupt_ns{0};  ///< not before that
};

struct alignas(64) worker_core {
  platform::local<slot*> head;   ///< one past the newest task
  platform::local<slot*> guard;  ///< joins of slots below it take the slow path: max(split, groups.newest_block)
  platform::local<slot*> split;  ///< tasks at or above it are private; the owner's copy of what thieves see
  slot* end = nullptr;           ///< end of the task stack
  slot* base = nullptr;          ///< first slot of the task stack; any thread
  /// Of the scheduler this worker belongs to. Not the scheduler: in one that a task of its own has ended it is there still, and another
  /// scheduler may be where that was.
  const scheduler_core* home = nullptr;
  innermost_part inner;
  group_part groups;
  loop_part loops;
  const unsigned int* in_flight = &none_in_flight;  ///< exceptions in flight on its thread
  std::uint64_t newest_id = 0;                      ///< the newest number given: detail/numbers.hpp
  platform::local<bool> busy{true};                 ///< in the scheduler's own code, which must not be interrupted
  /// It is no worker, or searches, or runs a task of a repeated part: its attention is raised, and constructs ask on
  /// their cold paths what to do instead.
  bool diverts = true;
  std::uint16_t number = 0;     ///< among those of its scheduler
  task_place place{};           ///< of what it runs
  given_task* given = nullptr;  ///< the newest that it has given and not joined

  /// See above. Raised to begin with. [AT1] relaxed wherever the owner polls it: only a request to look; what the owner
  /// then looks at is ordered by the policy's own operations.
  alignas(64) platform::atomic<slot*> attention{nullptr};
  asked_part asked;

  /// The policy moves the split point.
  void set_split(slot* to) noexcept {
    split.store(to);
    set_guard();
  }
  void set_guard() noexcept {
    for (;;) {
      slot* const s = split.load();
      slot* const block = groups.newest_block.load();
      guard.store(std::less<>{}(s, block) ? block : s);
      platform::signal_fence();
      if (split.load() == s) return;  // else an interrupt has moved it, and the guard that it had set is overwritten
    }
  }
  [[nodiscard]] group_run& run_at(const slot* first) const noexcept {
    // An index would be two shifts.
    static_assert(sizeof(slot) == 2 * sizeof(group_run));
    const auto offset =
        static_cast<std::size_t>(reinterpret_cast<const std::byte*>(first) - reinterpret_cast<const std::byte*>(base));
    return *reinterpret_cast<group_run*>(reinterpret_cast<std::byte*>(groups.runs) + offset / 2);
  }
  /// A run begins at head. What begins a block is noticed by joins below.
  void begin_run(slot* first, slot* older_first, slot* older_last) noexcept {
    group_run& run = run_at(first);
    run.older_first = older_first;
    run.older_last = older_last;
    if (first == groups.block_end) return;  // the newest block goes on
    run.outer_block = groups.newest_block.load();
    run.outer_block_end = groups.block_end;
    platform::signal_fence();
    groups.newest_block.store(first);
    guard.store(first);  // no task is newer, and an interrupt moves split only up to head
  }
  /// The newest slot, the last of the newest block, goes.
  void shorten_block(slot* to) noexcept {
    groups.block_end = to;
    if (groups.newest_block.load() == to) end_block(run_at(to));
  }
  void end_block(const group_run& first) noexcept {
    groups.newest_block.store(first.outer_block);
    groups.block_end = first.outer_block_end;
    set_guard();
  }

  /// True when a push into `s` has to take the slow path.
  [[nodiscard]] bool must_attend(slot* s) const noexcept {
    return !platform::is_above(attention, s);  // [AT1] relaxed
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
  return w.newest_id = number_after(w.newest_id);
}

/// The calling worker is in a chunk of a loop or reduction, and says so to the one around it.
class inside_chunk {
 public:
  inside_chunk(worker_core& w, chunk_tuner& tuner) noexcept : w_(w), outer_(w.inner.tuner) {
    if (outer_ != nullptr) outer_->contains_loops();
    w.inner.tuner = &tuner;
    ++tuner.in_use;
  }
  ~inside_chunk() {
    --w_.inner.tuner->in_use;
    w_.inner.tuner = outer_;
  }
  /// The worker is in no other one.
  [[nodiscard]] bool is_outermost() const noexcept { return outer_ == nullptr; }
  inside_chunk(const inside_chunk&) = delete;
  inside_chunk& operator=(const inside_chunk&) = delete;

 private:
  worker_core& w_;
  chunk_tuner* outer_;
};

/// What `self` refers to on a thread that is no worker. Never written.
FILCH_API extern worker_core foreign_worker;

/// The worker of the calling thread. Constant for as long as a task runs: a task never changes threads.
FILCH_API [[gnu::tls_model("initial-exec")]] extern constinit thread_local worker_core* self;

enum class join_result : std::uint8_t {
  reclaimed,  ///< the task is private again and off the stack: the owner runs it
  done,       ///< somebody else ran it
  failed      ///< somebody else ran it, and it threw
};

/// Time since it was made, in nanoseconds.
class FILCH_API chunk_timer {
 public:
  chunk_timer() noexcept;
  [[nodiscard]] std::int64_t ns() const noexcept;

 private:
  std::int64_t since_;
};

/// Pushes a task that is in the slot at head already, when the fast path may not, and answers attention.
FILCH_API [[gnu::cold, gnu::noinline]] void push_attending(worker_core& w, slot& s) noexcept;

/// Attends to whatever raised the attention word. Owner only.
FILCH_API [[gnu::cold, gnu::noinline]] void attend(worker_core& w) noexcept;

/// What a slot holds whose task was joined while newer ones lay above it. Does nothing; may be offered and taken like
/// any other, and goes when it is the newest.
FILCH_API run_result run_joined(task& t, run_by who);
/// What a slot holds that somebody builds a task in, or runs one in: as above, but that one takes it off.
FILCH_API run_result run_in_use(task& t, run_by who);

/// Owner. Takes joined slots off the top of the stack, of the innermost activation.
FILCH_API [[gnu::cold, gnu::noinline]] void drop_joined(worker_core& w) noexcept;
/// Is the newest slot of the innermost activation a joined one?
inline bool top_is_joined(const worker_core& w) noexcept {
  const slot* const head = w.head.load();
  return head != w.inner.floor && (head - 1)->run.load() == &run_joined;
}
/// Is most of what the innermost activation has on the stack joined slots?
FILCH_API [[gnu::cold, gnu::noinline]] bool is_mostly_joined(const worker_core& w) noexcept;
/// Is the stack full, and most of that joined slots, below tasks that wait for their joins?
inline bool is_clogged(const worker_core& w) noexcept { return w.head.load() == w.end && is_mostly_joined(w); }
/// Are only joined slots above `s`?
inline bool only_joined_above(const worker_core& w, const slot* s) noexcept {
  for (const slot* next = w.head.load(); --next > s;) {
    if (next->run.load() != &run_joined) return false;
  }
  return true;
}

/// Joins a task below the guard, on top of which the fast path has put head: takes it back, or waits for its thief.
/// Where tasks of groups lie above it, the slot stays behind, joined, and they stay where they are.
FILCH_API [[gnu::cold, gnu::noinline]] join_result join_guarded(worker_core& w, slot& s) noexcept;

/// The owner's own slot `s`, in use so far, is below the guard; the fast path has put head on it. True: it is the
/// newest and private, and head is on it. False: it stays in use, and head is above it.
FILCH_API [[gnu::cold, gnu::noinline]] bool regain(worker_core& w, slot& s) noexcept;

/// The slot `s`, the newest, of the calling worker, is in use from now on, and holds no task that anybody could want.
inline void begin_use(worker_core& w, slot& s) noexcept {
  s.run.store(&run_in_use);
  platform::signal_fence();
  w.head.store(&s + 1);
}
/// It is free.
inline void end_use(worker_core& w, slot& s) noexcept {
  w.head.store(&s);
  platform::signal_fence();  // as in fork_join
  if (std::greater<>{}(w.guard.load(), &s)) [[unlikely]]
    join_guarded(w, s);
}

/// Ends an activation whose tasks began at `base`: takes off the joined slots that it left.
FILCH_API [[gnu::cold, gnu::noinline]] void settle(worker_core& w, slot* base) noexcept;

/// Ends the top task of the stack after its sibling threw: takes it off unless somebody else has it, whom it waits for.
FILCH_API [[gnu::cold, gnu::noinline]] join_result abandon(worker_core& w, slot& s) noexcept;

}  // namespace filch::detail
