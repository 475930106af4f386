// The slow paths of push and join, as the constructs of the scheduler use them beside the fast path of worker_core.hpp.
#pragma once

#include <filch/detail/worker_core.hpp>

#include "worker/siblings.hpp"
#include "worker/worker.hpp"

namespace filch::detail {

struct loop_state;

/// Owner, in a busy section. Answers who asks, if anybody does.
void answer(worker& w) noexcept;

/// Has the share anything that its owner can begin: iterations, items, a task?
[[nodiscard]] bool has_work(const work_share& share) noexcept;

/// Waits until a taken task is done and helps with it meanwhile. `reclaimed`: nobody had begun it, and it is the
/// owner's again, who has to run it. With an `adopter`, a share of the loop or bag that the task is a piece of,
/// `reclaimed`: some part of that is the share's work now. With siblings of the task, it helps with those too.
join_result wait_for(worker& w, task& t, work_share* adopter = nullptr, siblings* others = nullptr) noexcept;

/// Joins the newest task of the stack and takes it off. `reclaimed`: the owner has to run it.
join_result join_newest(worker& w, slot& s, siblings* others = nullptr) noexcept;

/// Joins an offered task without taking it off the stack, where newer ones may lie above it.
join_result join_in_place(worker& w, slot& s, siblings* others = nullptr) noexcept;

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
    const bool in_block = head-- == w.groups.block_end;
    if (in_block) w.shorten_block(head);
    if (w.split.load() <= head) [[likely]] {
      w.head.store(head);
    } else {
      join_newest(w, *head);
    }
  }
}

/// The owner, in a group's wait: waits for a given task, or runs it after all. What its slot holds does nothing from
/// then on.
void await_given(worker_core& w, slot& s) noexcept;

/// The steal range becomes active, if it is in that phase, and the worker is to tell those in it: all but those to whom it has
/// given a task of that construct, who know it.
void activate(worker& w, steal_range& r, steal_range::phase since, const void* family = nullptr) noexcept;

/// The owner's construct has ended: the range of all is active again. Wakes those who sleep because it was not.
void activate_all(worker& w, steal_range& r) noexcept;

/// Tells the next one. False: all know, or it has ended. A worker that has nothing else to do goes on with it from time to
/// time, and before it sleeps tells the rest.
bool tell_next(worker& w) noexcept;
void tell_rest(worker& w) noexcept;

/// Gives [low, high) of a loop to a worker, as a task of that place, until join_given_parts(). More than one part: it keeps
/// the first, and the workers after it get the others. False: there is no memory.
bool give_part(worker& w, worker& to, const task_place& place, loop_state& whole, std::uint64_t low, std::uint64_t high,
               std::uint64_t parts = 1) noexcept;

/// The next child of a task of a repeated part.
[[nodiscard]] task_path next_child(task_path& of) noexcept;

/// Waits for the parts of a loop that the worker has given, or runs them after all.
void join_given_parts(worker& w, const loop_state& whole) noexcept;

}  // namespace filch::detail
