// A policy says when an owner makes work available and where it puts that, who may take it, what a worker does that has none
// or waits, and what tasks it may be given. Its calls are virtual because none of them is on the fast path.
//
// Thread safety: one policy serves all workers of a scheduler at once; what belongs to one worker is in its offer.
#pragma once

#include <memory>

#include <filch/detail/worker_core.hpp>

#include "worker/worker.hpp"

namespace filch::detail {

class policy {
 public:
  policy() = default;
  virtual ~policy() = default;
  policy(const policy&) = delete;
  policy& operator=(const policy&) = delete;

  /// A new worker's offer, empty.
  [[nodiscard]] virtual std::unique_ptr<offer> make_offer() const = 0;

  /// Owner, attention raised: make tasks available.
  virtual void answer(worker& w) noexcept = 0;
  /// Owner, before it sleeps in a task: makes everything available that it has, whether or not anybody has asked.
  virtual void offer_all(worker& w) noexcept = 0;
  /// Owner. It is blocked, the first of all: until nobody is, tasks may be anybody's to take that are not otherwise.
  virtual void begin_blocked(worker& /*w*/) noexcept {}
  /// Owner wants an offered task back. True: it, and everything newer, is private again.
  [[nodiscard]] virtual bool reclaim(worker& w, slot& s) noexcept = 0;
  /// Owner: `s`, the newest task, was taken and has ended. Takes it off the stack.
  virtual void rejoin(worker& w, slot& s) noexcept = 0;

  /// Owner: a piece of a loop that was on offer is its own again.
  virtual void piece_taken_back(worker& /*w*/) noexcept {}
  /// Do owners answer those who ask? Otherwise they offer everything at once.
  [[nodiscard]] virtual bool can_be_asked() const noexcept = 0;

  /// Is every task run where it is made, and never anywhere else?
  [[nodiscard]] virtual bool runs_at_once() const noexcept { return false; }

  /// The worker begins a root.
  virtual void begin_root(worker& /*w*/) noexcept {}
  /// May a worker take a task back that it has given to another one, and nobody has begun?
  [[nodiscard]] virtual bool takes_back() const noexcept { return true; }
  /// Does a worker that waits run what it was given? Where traces are followed: what follows one, and nothing else.
  [[nodiscard]] virtual bool waits_run_given() const noexcept { return false; }
  /// Are repeated parts traced, and tasks given to workers by that?
  [[nodiscard]] virtual bool follows_traces() const noexcept { return false; }

  /// May any worker take what another one offers?
  [[nodiscard]] virtual bool steals_anywhere() const noexcept { return true; }
  /// Any thread. May that sleeper take what the other worker offers? Not wrongly false once it has looked for the last
  /// time.
  [[nodiscard]] virtual bool may_come(const worker& /*sleeper*/, const worker& /*to*/) const noexcept { return true; }

  /// Worker out of work, searching: tries once to find some, ends the search, and runs it. False: found nothing.
  virtual bool acquire(worker& w) noexcept = 0;
  /// Worker about to sleep: is there work to be taken anywhere? Asks everybody who has some but shows none.
  [[nodiscard]] virtual bool work_visible(worker& w) noexcept = 0;
  /// Worker that was about to sleep, or has slept, and searches again: if something was brought to it meanwhile, ends
  /// the search and runs that. False: nothing was.
  virtual bool collect(worker& /*w*/) noexcept { return false; }
  /// Worker that waits for that task, and is about to sleep: something may be brought to it from now on. It calls
  /// collect_help() afterwards.
  virtual void await_help(worker& /*w*/, lineage /*awaited*/) noexcept {}
  /// Worker that waits for that task, and slept or was about to: runs what was brought to it meanwhile, if anything;
  /// or adopts it, as help() does.
  virtual void collect_help(worker& /*w*/, lineage /*awaited*/, work_share* /*adopter*/) noexcept {}
  /// Worker that waits for a taken task: tries once to run something in the meantime. False: found nothing.
  /// A piece of the loop or bag that `adopter` is a frame of becomes the work of that, instead of being run here.
  virtual bool help(worker& w, lineage awaited, work_share* adopter) noexcept = 0;
  /// May the worker, which waits for that task, find something to run by help() now? Asks as work_visible does.
  [[nodiscard]] virtual bool help_visible(worker& w, lineage awaited) noexcept = 0;
};

}  // namespace filch::detail
