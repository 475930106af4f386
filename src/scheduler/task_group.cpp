#include <exception>
#include <functional>
#include <memory>
#include <utility>

#include <filch/task_group.hpp>

#include "scheduler/injector.hpp"
#include "scheduler/joining.hpp"
#include "scheduler/scheduler_core.hpp"
#include "worker/worker.hpp"

namespace filch {
namespace {

/// The empty task that a group leaves in a slot that it cannot take off yet.
detail::run_result run_nothing(detail::task& /*t*/, detail::run_by /*who*/) { return detail::run_result::done; }

}  // namespace

// The group may use the task stack of the worker that constructs it if it lies on the C++ stack of what the worker
// runs. Not inlined: its own frame has to lie below everything of its caller.
[[gnu::noinline]] void task_group::choose_owner() noexcept {
  const detail::worker_core& w = *detail::self;
  // On the heap the group may be waited for by anybody, who would not see what lies on this worker's stack.
  const std::less<const void*> below;
  if (&w == &detail::foreign_worker || !below(__builtin_frame_address(0), this) || !below(this, w.frame)) return;
  frame_ = w.frame;
  span_.base = w.head.load();
  span_.top = span_.base;
}

void task_group::end() {
  if (std::uncaught_exceptions() > 0) cancel();
  if (span_.top != span_.base) wait_for_stack(*detail::self);
  if (span_.top != span_.base) {
    // Empty tasks below a pending branch. They may be offered and taken once more, so somebody has to join them.
    detail::worker_core& w = *detail::self;
    w.put_in_place_of(span_, new detail::stack_span{span_.base, span_.top, span_.outer, true});
  }
  delete wait_for_detached();
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
  if (rest != nullptr) rest->rethrow();
  return status;
}

void task_group::wait_for_stack(detail::worker_core& core) noexcept {
  auto& w = static_cast<worker&>(core);
  const detail::busy_section here(w);
  for (detail::stack_span* in = w.spans.load(); in != &span_ && w.head.load() == in->top; in = w.spans.load()) {
    detail::detach_span(w, *in);
  }
  // From the newest on. A task that the owner runs may push further ones onto the stack again.
  for (detail::slot* next = span_.top; next != span_.base;) {
    detail::slot& s = *(next - 1);
    const bool newest = w.head.load() == next;
    auto how = detail::join_result::reclaimed;
    if (newest) {
      w.head.store(&s);
      platform::signal_fence();
      if (w.split.load() > &s) {
        how = detail::join_newest(w, s);
      } else if (w.must_attend(&s)) {
        detail::attend(w);
      }
      span_.top = &s;
      if (&s == span_.base) w.unlink(span_);
    } else if (w.split.load() > &s) {
      how = detail::join_in_place(w, s);
    }
    if (how == detail::join_result::reclaimed) {
      const auto run = s.run.load();
      if (!newest) s.run.store(&run_nothing);  // the slot stays
      const detail::open_section task(w);
      run(s, detail::run_by::owner);
    }
    next = newest ? span_.top : &s;
  }
}

detail::group_rest& task_group::rest() {
  detail::group_rest* rest = rest_.load(std::memory_order_acquire);  // [GR1]
  if (rest != nullptr) return *rest;
  detail::worker_core* const w = detail::self;
  scheduler& home = w == &detail::foreign_worker ? scheduler::default_scheduler() : *w->home;
  detail::injector& tasks = home.core().injected();
  auto made = std::make_unique<detail::group_rest>(tasks, tasks.own_queue());
  // [GR2] release: the object; acquire, when it fails: the one that somebody else made first.
  if (!rest_.compare_exchange_strong(rest, made.get(), std::memory_order_release, std::memory_order_acquire)) {
    return *rest;
  }
  return *made.release();
}

void task_group::push_detached(detail::group_rest& to, detail::detached_task& t) noexcept { to.home.push(to, t); }

void task_group::detach(detail::detached_task& t, const detail::slot& from) noexcept {
  detail::group_rest& group = rest();
  t.order = order_of(from);
  group.home.push(group, t);
}

void task_group::end_detached(detail::detached_task& t) noexcept { t.home->home.end(t); }

void task_group::record(std::uint64_t order) noexcept { rest().record(order); }

}  // namespace filch
