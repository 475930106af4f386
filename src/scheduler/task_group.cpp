#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>

#include <filch/task_group.hpp>

#include "scheduler/injector.hpp"
#include "scheduler/scheduler_core.hpp"
#include "worker/slow_path.hpp"
#include "worker/worker.hpp"

namespace filch {
namespace {

/// Since the innermost activation of the worker began.
unsigned int exceptions_in_flight(const detail::worker_core& w) noexcept {
  const bool is_worker = &w != &detail::foreign_worker;
  return is_worker ? *w.in_flight - w.inner.unwinding : static_cast<unsigned int>(std::uncaught_exceptions());
}

}  // namespace

// The group may use the task stack of the worker that constructs it if it lies on the C++ stack of what the worker
// runs. Not inlined: its own frame has to lie below everything of its caller.
[[gnu::noinline]] void task_group::choose_owner() noexcept {
  const detail::worker_core& w = *detail::self;
  // On the heap the group may be waited for by anybody, who would not see what lies on this worker's stack.
  const std::less<const void*> below;
  unwinding_ = exceptions_in_flight(w);
  if (&w == &detail::foreign_worker || !below(__builtin_frame_address(0), this) || !below(this, w.inner.frame)) return;
  frame_ = w.inner.frame;
}

void task_group::end() {
  const detail::worker_core& w = *detail::self;
  if (exceptions_in_flight(w) > unwinding_) cancel();
  if (last_ != nullptr) {
    if (!on_stack_of(w)) {
      static_cast<void>(
          std::fputs("filch: a task_group with tasks, on the C++ stack of one task, is destroyed by "
                     "another; wait for its tasks where it was made\n",
                     stderr));
      std::terminate();
    }
    wait_for_newest(*detail::self);
  }
  delete wait_for_detached();
}

void task_group::reject_wait() {
  throw std::logic_error(
      "filch: wait() for a task_group on the C++ stack of another task; wait in the task that made the group, or make "
      "the group on the heap");
}

detail::group_rest* task_group::wait_for_detached() {
  // [GR1] acquire: the object, from [GR2].
  detail::group_rest* const rest = rest_.load(std::memory_order_acquire);
  if (rest != nullptr) detail::injector::wait(*rest);
  return rest;
}

group_status task_group::wait_for_rest() {
  detail::group_rest* const rest = wait_for_detached();
  const group_status status = canceled() ? group_status::canceled : group_status::complete;
  canceled_.store(false, std::memory_order_relaxed);
  if (lost_exception_.load(std::memory_order_relaxed)) {  // [GR3]
    lost_exception_.store(false, std::memory_order_relaxed);
    throw std::bad_alloc();
  }
  if (rest != nullptr) rest->rethrow();
  return status;
}

// From the newest on. What the owner runs may push further tasks of the group onto the stack.
void task_group::wait_on_stack(detail::worker_core& core) noexcept {
  auto& w = static_cast<detail::worker&>(core);
  const detail::busy_section here(w);
  while (last_ != nullptr) {
    detail::drop_joined_above(w, w.inner.floor);
    detail::slot* last = last_;
    do {
      if (w.must_attend(last)) [[unlikely]]
        detail::attend(w);
      detail::slot& s = *(last - 1);
      const bool offered = w.split.load() > &s;
      if (w.head.load() == last) {
        last = take_off_newest(w, &s);
        w.head.store(&s);
        if (!offered || detail::join_newest(w, s) == detail::join_result::reclaimed) {
          const detail::open_section task(w);
          s.run.load()(s, detail::run_by::owner);
        }
        detail::drop_joined_above(w, w.inner.floor);
      } else {
        last = take_off(w, &s);
        if (!offered || detail::join_in_place(w, s) == detail::join_result::reclaimed) {
          const auto run = s.run.load();
          s.run.store(&detail::run_in_use);  // the slot stays, and may be offered again
          const detail::open_section task(w);
          run(s, detail::run_by::in_place);
        }
        detail::leave_joined(w, s);
      }
    } while (last_ == last && last != nullptr);
  }
  detail::drop_joined_above(w, w.inner.floor);
}

detail::group_rest& task_group::rest() {
  detail::group_rest* rest = rest_.load(std::memory_order_acquire);  // [GR1]
  if (rest != nullptr) return *rest;
  detail::worker_core* const w = detail::self;
  scheduler& home = w == &detail::foreign_worker ? scheduler::default_scheduler() : *w->home;
  detail::injector& tasks = home.core().injected();
  auto made = tasks.make_rest();
  // [GR2] release: the object; acquire, when it fails: the one that somebody else made first.
  if (!rest_.compare_exchange_strong(rest, made.get(), std::memory_order_release, std::memory_order_acquire)) {
    return *rest;
  }
  return *made.release();
}

void task_group::push_detached(detail::group_rest& to, detail::detached_task& t) noexcept { to.home.push(to, t); }

void task_group::end_detached(detail::detached_task& t) noexcept { t.home->home.end(t); }

void task_group::record(std::uint64_t order) noexcept {
  try {
    rest().record(order);
  } catch (const std::bad_alloc&) {
    // [GR3] relaxed: the join of the task that threw orders it before wait().
    lost_exception_.store(true, std::memory_order_relaxed);
  }
}

}  // namespace filch
