// Threads that compute in the places of workers whose threads are blocked: docs/protocols/background.md.
//
// A thread is blocked that sleeps outside of filch (filch/blocking.hpp). One that sleeps in a wait of a scheduler is blocked
// as far as the schedulers around that one are concerned: what it waits for may need a thread of theirs.
#pragma once

namespace filch::detail {

class worker;

/// A thread that has begun in a worker's place.
class stand_in {
 public:
  /// Any thread, once: its place is the worker's again.
  virtual void end() noexcept = 0;
  /// Any thread. Something was put into the blocked worker's inbox, by a sequentially consistent operation.
  virtual void look() noexcept = 0;

 protected:
  ~stand_in() = default;
};

class stand_ins {
 public:
  /// Any thread. One begins in that worker's place, until its end(). Null: there is none to be had.
  virtual stand_in* begin(worker& blocked) noexcept = 0;
  /// Owner. The tasks that it has taken and not begun are for everybody from now on, as far as there is memory for that.
  virtual void hand_over_kept(worker& from) noexcept = 0;

 protected:
  ~stand_ins() = default;
};

/// Owner, before it sleeps in a task: what it keeps of tasks that it has taken is for everybody.
void share_kept(worker& w) noexcept;

/// The calling thread is blocked until unblock() of the same, as that worker, and as those that it is in the schedulers around.
/// What they have is offered first. Null: nothing happens. May be nested.
void block(worker* innermost) noexcept;
void unblock(worker* innermost) noexcept;

}  // namespace filch::detail
