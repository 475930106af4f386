// Waiting for tasks, for the constructs that do it.
#pragma once

#include <filch/detail/worker_core.hpp>

#include "worker/worker.hpp"

namespace filch::detail {

/// Owner, in a busy section. Answers who asks, if anybody does.
void answer(worker& w) noexcept;

/// Waits until a taken task is done and helps with it meanwhile. `reclaimed`: nobody had begun it, and it is the
/// owner's again, who has to run it. With an `adopter`, a frame of the loop or bag that the task is a piece of,
/// `reclaimed`: some part of that is the frame's work now.
join_result wait_for(worker& w, task& t, loop_frame* adopter = nullptr) noexcept;

/// Sleeps until somebody wakes the worker: who knows what it waits for, or who asks it for work; or until the time
/// deadline_ns() (now_ns()). Not if over(), which is called when whoever makes it true knows that the worker is about
/// to sleep. The deadline is found after that, since over() may ask somebody who is to be interrupted then. The worker
/// answers before it falls asleep; the caller looks again afterwards.
template <class Over, class Deadline>
void doze_unless(worker& w, Over over, Deadline deadline_ns) noexcept {
  // [AT4] seq_cst: before the last look at the attention word; pairs with [AT2]: one of the two sees the other. And
  // before what over() looks at.
  w.dozing.store(true, std::memory_order_seq_cst);
  if (!over()) {
    if (w.attention.load(std::memory_order_seq_cst) == nullptr) attend(w);  // [AT2]
    w.count(&counters::parks);
    w.parker.park_until(deadline_ns());
  }
  w.dozing.store(false, std::memory_order_relaxed);  // a wake-up too many does no harm
}

/// Joins the newest task of the stack and takes it off. `reclaimed`: the owner has to run it.
join_result join_newest(worker& w, slot& s) noexcept;

/// Joins an offered task without taking it off the stack, where newer ones may lie above it.
join_result join_in_place(worker& w, slot& s) noexcept;

/// A slot below newer tasks, private or joined, has no task any more. It goes when it is the newest.
inline void leave_joined(worker& w, slot& s) noexcept {
  // Offered as an empty task meanwhile: at most a thief's few instructions.
  if (w.split.load() > &s) [[unlikely]]
    join_in_place(w, s);
  s.run.store(&run_joined);
}

/// Owner, in a busy section: takes joined slots off the top, down to `to` at most.
inline void drop_joined_above(worker& w, const slot* to) noexcept {
  for (slot* head = w.head.load(); head != to && (head - 1)->run.load() == &run_joined;) {
    const bool in_block = head-- == w.block_end;
    if (in_block) w.shorten_block(head);
    if (w.split.load() <= head) [[likely]] {
      w.head.store(head);
    } else {
      join_newest(w, *head);
    }
  }
}

}  // namespace filch::detail
