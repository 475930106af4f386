// Waiting: the one loop in which a worker looks for something to run, and sleeps when there is nothing.
//
// It is the loop of a worker without work, of one that serves a group, of joins, of waits for a group's detached tasks, for
// a future or for what was given to another worker, and of the caller of a bag that compares counts. They differ in what they
// wait for, in what they may run meanwhile, and in who wakes them. Each is a class with these members, which the waiting worker
// calls in a busy section (a wait for a future also where no worker waits, or before it has become one):
//
//   bool over()       is it over? The first question, and again after everything that has happened
//   bool help()       tries once to run something; false: found nothing
//   void answer()     answers workers that ask this one for work
//   bool interrupt()  interrupts those who have not answered for too long; false: nobody
//   bool sleep()      announces it, looks once more, and sleeps if it may; false: the next turn in vain sleeps again, without
//                     spinning: there was nobody to wake it, or there is nothing to search for
//
// What may be run in help() is each one's own business, and what makes waiting safe (docs/protocols/wait.md); that no
// wake-up is lost is that of sleep() (docs/protocols/sleep.md).
#pragma once

#include "platform/clock.hpp"
#include "worker/patience.hpp"
#include "worker/policy.hpp"
#include "worker/sleepers.hpp"
#include "worker/slow_path.hpp"
#include "worker/stand_in.hpp"
#include "worker/worker.hpp"

namespace filch::detail {

/// `spin_ns`: how long to find nothing before it sleeps.
template <class Waiting>
void wait_until_over(Waiting& waiting, std::int64_t spin_ns) noexcept {
  patience spinning = patience::of_searches(spin_ns);
  while (!waiting.over()) {
    if (waiting.help()) {
      spinning.begin();
      continue;
    }
    waiting.answer();
    if (spinning.go_on()) continue;
    if (waiting.interrupt() || waiting.sleep()) spinning.begin();
  }
}

/// A worker that waits inside of a task: what such waits have in common.
class waiting_worker {
 public:
  explicit waiting_worker(worker& w) noexcept : w_(w) {}
  ~waiting_worker() { w_.occupied(); }
  waiting_worker(const waiting_worker&) = delete;
  waiting_worker& operator=(const waiting_worker&) = delete;

  void answer() noexcept {
    tell_next(w_);
    if (w_.must_attend(w_.head.load())) attend(w_);
  }

 protected:
  /// Runs a task that the worker was given for its waits as well, with policies that give such. False: there is none.
  bool run_given() noexcept { return may_run_given() && w_.run_given_in_wait(); }

  /// Sleeps until somebody wakes the worker: who knows what it waits for, or who asks it for work; or until the time
  /// deadline_ns() (now_ns()). Not if over(), which is called when whoever makes it true knows that the worker is about
  /// to sleep. The deadline is found after that, since over() may ask somebody who is to be interrupted then. The
  /// worker answers before it falls asleep. `for_detached`: what it waits for is on nobody's stack.
  template <class Over, class Deadline>
  void doze_unless(Over over, Deadline deadline_ns, bool for_detached = false) noexcept {
    tell_rest(w_);
    share_kept(w_);
    // [AT4] seq_cst: before the last look at the attention word; pairs with [AT2]: one of the two sees the other. And
    // before what over() looks at, and before the look who is available [SP6].
    w_.wait.dozing.store(true, std::memory_order_seq_cst);
    w_.common.sleepers.begin_wait();
    if (!over() && !may_run_given()) {
      open_inbox(w_);
      const bool is_replaced = (for_detached && must_be_replaced()) || nobody_is_available(w_);
      worker* const blocked = is_replaced ? &w_ : w_.outer;
      // Who is awake all the time would count as available.
      if (!is_replaced && w_.common.sleepers.is_warm() && !w_.common.spares.are_needed()) {
        platform::yield();  // to threads that have no processor
      } else {
        if (w_.attention.load(std::memory_order_seq_cst) == nullptr) attend(w_);  // [AT2]
        w_.count(&counters::parks);
        const std::int64_t since_ns = w_.trace.begin();
        // What it waits for may need a thread of the schedulers around.
        block(blocked);
        w_.parker.park_until(deadline_ns());
        unblock(blocked);
        w_.trace.end("asleep", since_ns, 0);
      }
    }
    w_.common.sleepers.end_wait();
    w_.wait.dozing.store(false, std::memory_order_relaxed);  // a wake-up too many does no harm
  }

  worker& w_;

 private:
  [[nodiscard]] bool may_run_given() const noexcept {
    return w_.common.policy.waits_run_given() && w_.box.has_task_in_wait();  // [IB2] after [AT4]
  }

  /// Nobody else runs what it was given, and what it waits for may wait for that.
  [[nodiscard]] bool must_be_replaced() const noexcept {
    return !w_.common.policy.takes_back() && w_.box.has_task();  // [IB2] after [AT4]
  }
};

}  // namespace filch::detail
