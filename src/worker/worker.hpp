// A worker: its task stack, its activations, its policy's offer, and its counters. Beyond the fast path's part
// (worker_core) everything here is reached off the fast path only.
//
// Who may do what: members are the owner's unless their comment says "any thread".
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include <filch/detail/worker_core.hpp>
#include <filch/platform/memory.hpp>

#include "platform/mapping.hpp"
#include "platform/parker.hpp"
#include "platform/placement.hpp"
#include "platform/processor_time.hpp"
#include "platform/trace_log.hpp"
#include "worker/activation_list.hpp"
#include "worker/blocked_part.hpp"
#include "worker/common_parts.hpp"
#include "worker/counters.hpp"
#include "worker/detached_part.hpp"
#include "worker/inbox.hpp"
#include "worker/interrupt_part.hpp"
#include "worker/near_part.hpp"
#include "worker/offer.hpp"
#include "worker/piece_pool.hpp"
#include "worker/scope_list.hpp"
#include "worker/search_part.hpp"
#include "worker/sleep_part.hpp"
#include "worker/task_state.hpp"
#include "worker/telling_part.hpp"
#include "worker/traced_task.hpp"
#include "worker/wait_part.hpp"

namespace filch::detail {

class group_rest;
class kept_tasks;
class profile_recorder;

class worker : public worker_core {
  platform::mapping stack_;
  platform::mapping run_memory_;
  std::optional<platform::mapping> traced_memory_;  ///< with policies that follow traces

 public:
  worker(std::uint16_t own_number, scheduler_core& of, const common_parts& of_all, std::size_t stack_bytes,
         const platform::worker_place& own_place = {});

  /// The worker that the calling thread is at present; null: of no scheduler.
  [[nodiscard]] static worker* of_this_thread() noexcept {
    return self == &foreign_worker ? nullptr : static_cast<worker*>(self);
  }

  /// Any thread. Position of a slot on this worker's stack.
  [[nodiscard]] std::uint32_t index_of(const slot* s) const noexcept { return static_cast<std::uint32_t>(s - base); }

  /// Any thread. Is that slot on this worker's stack?
  [[nodiscard]] bool has(const slot& s) const noexcept { return !std::less<>{}(&s, base) && std::less<>{}(&s, end); }
  /// Any thread that may look into the slot: what it holds, if its function says that it is a traced task.
  [[nodiscard]] traced_task& traced_at(const slot& s) const noexcept {
    return static_cast<traced_task*>(traced_memory_->data())[index_of(&s)];
  }

  /// Owner, in its own code: the calling thread is this worker from now on, and begins a root.
  void begin_on_this_thread() noexcept;

  // Attention.

  /// Owner. Makes itself look.
  // [AT5] release: that it may have something to give, for whoever asks when it has been asked already ([IN2]).
  // No exploration catches this, where a read-modify-write comes after all writes that were executed before it; but a
  // processor that delays writes could do this one first.
  void raise() noexcept { attention.store(nullptr, std::memory_order_release); }
  /// Any thread. Asks the owner to look, and wakes it for that when it sleeps inside of a wait.
  void ask() noexcept {
    // Only written when it changes, so that asking again does not take the line from the owner.
    // [AT2] seq_cst: after the asker's look for work, and before its look whether the owner sleeps ([AT4]). What it
    // reads is not older than the owner's last answer ([AT3]) if that was before the asker announced its sleep ([SL3]).
    if (attention.load(std::memory_order_seq_cst) == nullptr) {
      if (asked.since_ns.load(std::memory_order_relaxed) == 0) note_asked();  // [IN1]
      return;
    }
    note_asked();  // first: an old time would make an interrupt due at once when the owner raises its attention itself
    attention.store(nullptr, std::memory_order_seq_cst);
    if (wait.dozing.load(std::memory_order_seq_cst)) parker.unpark();  // [AT4]
  }
  /// Owner. It has looked, and answered.
  // [AT3] seq_cst: after the offer and before the look for sleepers ([SL1]); pairs with [AT2].
  void calm() noexcept {
    asked.has_nothing.store(false, std::memory_order_relaxed);  // [IN1], both
    asked.since_ns.store(0, std::memory_order_relaxed);
    attention.store(end, std::memory_order_seq_cst);
  }
  /// Owner. It has answered, and looks at its next push again, as if it were asked now.
  void look_again(std::int64_t now_ns) noexcept {
    asked.has_nothing.store(false, std::memory_order_relaxed);  // [IN1], both
    asked.since_ns.store(now_ns | 1, std::memory_order_relaxed);
  }
  /// Owner. It begins a task, and will have something to give. Whoever asked before waits for that from now on.
  void begin_work() noexcept {
    offered->activation_begins();
    asked.since_ns.store(0, std::memory_order_relaxed);            // [IN1]
    asked.has_nothing.exchange(false, std::memory_order_acquire);  // [IN3] acquire: see [IN2]
  }
  /// Owner. It looks. Unless it does so in its signal handler, earlier interrupts in vain no longer count.
  void forget_interrupts() noexcept;
  /// Owner. It has looked, at that time, and leaves its attention raised, because it will answer later: a waiting
  /// worker has no reason to interrupt it.
  void note_looked(std::int64_t now_ns) noexcept;
  /// Owner. It has looked and had nothing to give.
  void note_nothing() noexcept;
  /// Owner, in its signal handler: looks, if it is asked and not busy.
  void answer_interrupt() noexcept;

  void count(counters::value counters::* which, std::uint64_t times = 1) noexcept {
    auto& c = counted.*which;
    c.store(c.load(std::memory_order_relaxed) + times, std::memory_order_relaxed);  // one writer
  }

  /// It has something to run.
  void occupied() noexcept {
    search.succeeded();
    note_span("idle", counted.idle.end());
    note_span("wait", counted.waiting.end());
  }

  /// For the trace: something has lasted for so long until now; 0: it has not.
  void note_span(const char* name, std::int64_t lasted_ns) noexcept {
    if (lasted_ns == 0) return;
    if (const std::int64_t now = trace.begin()) trace.end(name, now - lasted_ns, 0);
  }

  /// The worker's thread: says in which socket it is now.
  void note_socket() noexcept {
    const std::uint32_t here = platform::socket_of_thread(location);
    if (socket.load(std::memory_order_relaxed) != here) socket.store(here, std::memory_order_relaxed);
  }

  /// Random bits for victim selection.
  std::uint64_t random() noexcept {
    seed_ ^= seed_ << 13;
    seed_ ^= seed_ >> 7;
    seed_ ^= seed_ << 17;
    return seed_ * 0x2545F4914F6CDD1DULL;
  }

  /// Owner, nothing of its own is on offer: slots at the low end of what is private whose tasks were joined, given away or
  /// run before their turn are passed by, and count as taken and done. A thief would find nothing in them.
  void pass_empty() noexcept;

  /// Runs a task taken from `owner`, as a new activation.
  void run_taken(task& t, worker* owner) noexcept;

  /// Begins the activation of a task of that group, which it is about to take. run_detached() has to follow.
  void begin_detached(const group_rest& group) noexcept;
  /// `scope`: that the group was made in, see scope_list.
  void run_detached(detached_task& t, void* scope) noexcept;
  /// Runs a task that lies on no stack, for those who wait for that group; null: nobody waits for it.
  void run_loose(task& t, const group_rest* group) noexcept;

  /// Worker out of work, searching: runs the next task of its inbox, or one that another one was given for itself, and
  /// ends the search before. False: there is none.
  bool run_given(worker& of) noexcept;
  /// The same for a worker that waits, with the next task of its own inbox that it runs there.
  bool run_given_in_wait() noexcept;

  /// Owner. It runs its root, or a task that the root has forked, and none that it has taken.
  [[nodiscard]] bool is_in_root() const noexcept { return innermost_ == nullptr; }

  /// Any thread. Is there a thread that takes part as this worker, and is neither blocked nor asleep in a wait?
  [[nodiscard]] bool is_available() const noexcept {
    // [SP6] seq_cst, both: as there. regions: relaxed, since who blocks before the caller's look at the count is seen by [SP7], and
    // who does so later looks itself.
    return attached.load(std::memory_order_seq_cst) && !wait.dozing.load(std::memory_order_seq_cst) &&
           blocked.regions.load(std::memory_order_relaxed) == 0;
  }

  /// Runs a batched task unless its owner has taken it back.
  void run_batched(task& t, worker& owner, std::uint64_t expected) noexcept;

  /// Takes a piece and runs it; calls `claimed` in between. False: somebody else was faster.
  template <class Claimed>
  bool run_piece(seen_piece seen, worker& owner, Claimed claimed) noexcept;

  /// State of a piece that this worker takes, and has done with at once, without an activation.
  [[nodiscard]] std::uint64_t taken_in_passing() noexcept {
    return task_state{.status = task_status::taken, .thief = number, .id = new_id()}.pack();
  }

  /// Tells the owner of a task that this worker has run it, and wakes it when it sleeps.
  static void finish(task& t, worker& owner, run_result result) noexcept;

  /// A number for a new activation, root or batch of this worker.
  [[nodiscard]] std::uint64_t new_id() noexcept { return newest_id = number_after(newest_id); }

  /// On whose stack the task lies that this worker has taken from one, and is in the middle of.
  [[nodiscard]] worker& owner_of_taken() const noexcept { return *innermost_->owner; }

  /// May that worker wait for the task that this one is in the middle of?
  [[nodiscard]] bool waits_for_this(const worker& other) const noexcept;

  /// Wakes those who sleep until one of the tasks is done that this worker is in the middle of, or its group.
  void wake_waiter() noexcept;

  /// Of `home`, which may be gone: a task of its own may have ended it.
  scheduler_core& core;
  const common_parts common;
  activation_list activations;             ///< any thread may ask
  std::unique_ptr<detail::offer> offered;  ///< the policy's, which says what of it is for thieves
  std::optional<scope_list> scopes;        ///< in a place only
  piece_pool pieces;                       ///< of loops and bags; what of it is for thieves, the pool says
  detached_part detached;
  alignas(64) inbox box;        ///< any thread: what others have given to it
  steal_place steals;           ///< owner
  telling_part telling;         ///< owner
  division* divided = nullptr;  ///< owner: the innermost construct that it divides
  // What idle workers look at, apart from what changes more often.
  alignas(64) platform::atomic<bool> runs_migrated{false};  ///< a hint, any thread: what it runs was given for itself
  /// Any thread: whom it may take from, since it looked for the last time (policy/adws.cpp).
  platform::atomic<std::uint64_t> reach{0};
  alignas(64) counters counted;               ///< any thread may read
  search_part search;                         ///< owner
  near_part near;                             ///< owner
  const worker* last_sent = nullptr;          ///< owner, in its own code: whom it has woken last, to come to itself
  platform::atomic<bool> attached{false};     ///< any thread: a thread takes part
  platform::trace_log trace;                  ///< owner
  std::shared_ptr<profile_recorder> profile;  ///< owner; null: what it runs is not profiled
  std::int64_t root_since_ns = 0;             ///< owner, for the trace
  kept_tasks* kept = nullptr;                 ///< owner: the innermost row of tasks that it runs one after the other
  worker* outer = nullptr;                    ///< owner: enclosing worker, if entered from another scheduler's task
  blocked_part blocked;
  // What a waker looks at, on one cache line.
  alignas(64) sleep_part sleep;  ///< any thread
  wait_part wait;                ///< any thread
  platform::parker parker;       ///< any thread may unpark
  interrupt_part interrupt;
  platform::processor_clock clock;  ///< its thread's
  bool slept_at_look = false;       ///< the lookout's

 private:
  /// A task this worker is in the middle of, and who waits for it.
  struct running {
    const running* outer;
    task* t;                  ///< a detached one may be gone
    worker* owner;            ///< null: it is a detached task, and whoever waits for its group waits for it
    const group_rest* group;  ///< null in addition: nobody waits for it
  };

  void note_asked() noexcept;
  template <class Take, class Found>
  bool run_given(worker& of, Take take, Found found) noexcept;
  /// Does it take what that worker was given for it alone?
  [[nodiscard]] bool empties_inbox_of(const worker& other) const noexcept;
  template <class Claim>
  bool run_claimed(task& t, worker* owner, Claim claim) noexcept;
  void run_as_activation(task& t, worker* owner, const group_rest* group, slot* own_base,
                         void* scope_of_group = nullptr) noexcept;
  void begin_scope_of(task& t, const worker* owner, void* scope_of_group) noexcept;

  chunk_tuners own_tuners_;
  const running* innermost_ = nullptr;
  std::uint64_t seed_;

 public:
  // At the end: constant, looked at by thieves that find nothing, and on no line that the rest is arranged by.
  const platform::worker_place location;   ///< any thread: which other workers are near
  platform::atomic<std::uint32_t> socket;  ///< a hint, any thread: where its thread was when it began to search
};

template <class Claim>
bool worker::run_claimed(task& t, worker* owner, Claim claim) noexcept {
  const std::uint64_t number_of_this = new_id();
  slot* const own_base = head.load();
  activations.begin(number_of_this, index_of(own_base));
  if (!claim(task_state{.status = task_status::taken, .thief = number, .id = number_of_this}.pack())) {
    activations.end();
    return false;
  }
  run_as_activation(t, owner, nullptr, own_base);
  return true;
}

template <class Claimed>
bool worker::run_piece(seen_piece seen, worker& owner, Claimed claimed) noexcept {
  return run_claimed(*seen.p, &owner, [&](std::uint64_t taken) {
    if (!piece_pool::take(seen, taken)) return false;
    seen.p->taken.store(seen.start());
    claimed();
    return true;
  });
}

}  // namespace filch::detail
