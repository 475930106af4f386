#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <filch/task_group.hpp>

#include "scheduler/injector.hpp"
#include "scheduler/scheduler_core.hpp"
#include "worker/profile_recorder.hpp"
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
  // It ends before that finish does. A group on the heap may not, and so remembers none.
  const auto& scopes = static_cast<const detail::worker&>(w).scopes;
  if (scopes) [[unlikely]]
    scope_ = scopes->innermost();
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
  try {
    wait_for_detached();
  } catch (const std::exception&) {
    detail::injector::outlast(*rest_.load(std::memory_order_relaxed));
  }
  delete rest_.load(std::memory_order_relaxed);
}

void task_group::reject_wait() {
  throw std::logic_error(
      "filch: wait() for a task_group on the C++ stack of another task; wait in the task that made the group, or make "
      "the group on the heap");
}

detail::group_rest* task_group::wait_for_detached() {
  // [GR1] acquire: the object, from [GR2].
  detail::group_rest* const rest = rest_.load(std::memory_order_acquire);
  if (rest == nullptr) return nullptr;
  detail::injector::wait(*rest);
  rest->tasks.reset();  // what comes after the group has the task's whole range again
  rest->end_profile();
  if (detail::is_profiled(*detail::self)) {
    static_cast<detail::worker&>(*detail::self).profile->join(rest->profiled);
  }
  return rest;
}

group_status task_group::wait_for_rest() {
  detail::group_rest* const rest = wait_for_detached();
  const group_status status = canceled() ? group_status::canceled : group_status::complete;
  canceled_.store(false, std::memory_order_relaxed);
  const std::exception_ptr error = rest != nullptr ? rest->take_error() : nullptr;
  if (lost_exception_.load(std::memory_order_relaxed)) {  // [GR3]
    lost_exception_.store(false, std::memory_order_relaxed);
    throw std::bad_alloc();
  }
  if (error != nullptr) std::rethrow_exception(error);
  return status;
}

/// Beside those on the stack.
class task_group::detached_tasks final : public detail::siblings {
 public:
  explicit detached_tasks(task_group& of) noexcept : group_(of) {}

  bool help(detail::worker& w) noexcept override {
    detail::group_rest* const rest = group_.rest_.load(std::memory_order_acquire);  // [GR1]
    return rest != nullptr && is_of_scheduler(w, *rest) && rest->home.help(w, *rest);
  }

  // Made now, if no task has made it: who did so later could not wake this worker. Without memory for that it sleeps until
  // the task ends for which it waits.
  void begin_sleep(detail::worker& w) noexcept override {
    try {
      detail::group_rest& rest = group_.rest();
      if (!is_of_scheduler(w, rest)) return;
      watched_ = &rest;
    } catch (const std::bad_alloc&) {
      return;
    }
    w.wait.await_group(watched_);
    watched_->home.watch(*watched_);
  }

  [[nodiscard]] bool help_visible(detail::worker& w) noexcept override {
    return watched_ != nullptr && watched_->home.help_visible(w, *watched_);
  }

  void end_sleep(detail::worker& w) noexcept override {
    if (watched_ == nullptr) return;
    watched_->home.unwatch(*watched_);
    w.wait.await_no_group();
    watched_ = nullptr;
  }

 private:
  // Who adds the first detached task chooses whose they are. Those of another scheduler are not this worker's to run.
  static bool is_of_scheduler(const detail::worker& w, const detail::group_rest& rest) noexcept {
    return &rest.home == &w.core.injected();
  }

  task_group& group_;
  detail::group_rest* watched_ = nullptr;
};

// From the newest on. What the owner runs may push further tasks of the group onto the stack.
void task_group::wait_on_stack(detail::worker_core& core) noexcept {
  auto& w = static_cast<detail::worker&>(core);
  const detail::busy_section here(w);
  std::optional<detail::division> tasks;  // until all have ended
  detached_tasks others(*this);
  bool waits_for_given = false;
  if (w.diverts && w.place.path.trace == nullptr) [[unlikely]] {
    detail::division& here_divided = tasks.emplace(w, this);
    if (total_ > 0) {
      here_divided.enter_nothing();  // done by run()
    } else {
      divide(w, here_divided);
    }
  }
  while (last_ != nullptr) {
    detail::drop_joined_above(w, w.inner.floor);
    detail::slot* last = last_;
    do {
      if (w.must_attend(last)) [[unlikely]]
        detail::attend(w);
      detail::slot& s = *(last - 1);
      if (s.run.load() == &detail::run_given_away) [[unlikely]] {
        if (w.place.path.trace != nullptr && !std::exchange(waits_for_given, true)) {
          run_kept(w);
          if (last_ != last) continue;
        }
        detail::await_given(w, s);
        if (last_ != last) continue;  // it has run here after all, and has added tasks
      }
      const bool offered = w.split.load() > &s;
      if (w.head.load() == last) {
        last = take_off_newest(w, &s);
        w.head.store(&s);
        if (!offered || detail::join_newest(w, s, &others) == detail::join_result::reclaimed) {
          const detail::open_section task(w);
          s.run.load()(s, detail::run_by::owner);
        }
        detail::drop_joined_above(w, w.inner.floor);
      } else {
        last = take_off(w, &s);
        if (!offered || detail::join_in_place(w, s, &others) == detail::join_result::reclaimed) {
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

// The group's slots, newest first.
std::vector<detail::slot*> task_group::slots(const detail::worker_core& w) const {
  std::vector<detail::slot*> all;
  detail::slot* first = first_;
  for (detail::slot* last = last_; last != nullptr;) {
    for (detail::slot* s = last; s != first;) all.push_back(--s);
    const detail::group_run& run = w.run_at(first);
    last = run.older_last;
    first = run.older_first;
  }
  return all;
}

// Of a repeated part: the tasks that are nobody else's, before the worker waits for one that it has given.
void task_group::run_kept(detail::worker& w) noexcept {
  std::vector<detail::slot*> all;
  try {
    all = slots(w);
  } catch (const std::bad_alloc&) {
    return;  // each when its turn comes
  }
  for (detail::slot* const s : all) {
    const auto run = s->run.load();
    if (detail::is_left(*s) || run == &detail::run_in_use || w.split.load() > s) continue;
    s->run.store(&detail::run_in_use);  // it stays a task of the group, which does nothing any more
    const detail::open_section task(w);
    run(*s, detail::run_by::in_place);
  }
}

// A group without a total is divided when it is waited for, each task counting one; none has begun until then.
void task_group::divide(detail::worker& w, detail::division& tasks) noexcept {
  std::vector<detail::slot*> all;
  try {
    all = slots(w);
  } catch (const std::bad_alloc&) {
    return tasks.enter_nothing();
  }
  for (std::size_t left = all.size(); left != 0; --left) {
    detail::slot& s = *all[left - 1];
    if (tasks.cut_off(1.0 / static_cast<double>(left))) {
      tasks.give(s);
      tasks.enter_rest();
      continue;
    }
    tasks.enter_child();
    if (w.split.load() <= &s) {
      const auto run = s.run.load();
      s.run.store(&detail::run_in_use);  // it stays a task of the group, which does nothing any more
      const detail::open_section task(w);
      run(s, detail::run_by::in_place);
    }
    break;
  }
  tasks.enter_nothing();
}

detail::division& task_group::divided(detail::worker_core& w, double*& work_left) {
  detail::group_rest& more = rest();
  if (!more.tasks) {
    more.tasks.emplace(w, this);
    more.work_left = total_;
  }
  work_left = &more.work_left;
  return *more.tasks;
}

detail::group_rest& task_group::rest() {
  detail::group_rest* rest = rest_.load(std::memory_order_acquire);  // [GR1]
  if (rest != nullptr) return *rest;
  auto made = detail::scheduler_core::of_caller_or_default().injected().make_rest();
  made->scope = scope_;
  // [GR2] release: the object; acquire, when it fails: the one that somebody else made first.
  if (!rest_.compare_exchange_strong(rest, made.get(), std::memory_order_release, std::memory_order_acquire)) {
    return *rest;
  }
  return *made.release();
}

detail::profiled_construct* task_group::profiled() noexcept {
  if (!detail::is_profiled(*detail::self)) return nullptr;
  try {
    return rest().profiled_by(static_cast<detail::worker&>(*detail::self));
  } catch (const std::exception&) {
    return nullptr;  // it counts as part of what it is in
  }
}

void task_group::push_detached(detail::group_rest& to, detail::detached_task& t) noexcept {
  t.home = &to;
  to.home.push(t);
}

void task_group::end_detached(detail::detached_task& t) noexcept { t.home->home.end(*t.home); }

void task_group::record(std::uint64_t order) noexcept {
  try {
    rest().record(order);
  } catch (const std::bad_alloc&) {
    // [GR3] relaxed: the join of the task that threw orders it before wait().
    lost_exception_.store(true, std::memory_order_relaxed);
  }
}

namespace detail {

closure_memory::closure_memory(group_rest& of) : memory_(of.home.take_memory(from_)) {
  if (memory_ == nullptr) memory_ = ::operator new(pooled_bytes);
}

void closure_memory::end(void* memory, closure_pool* from) noexcept {
  detached_part& mine = static_cast<worker&>(*self).detached;
  if (from == nullptr) {
    ::operator delete(memory);
  } else if (from == &mine.closures) {
    from->put(memory);
  } else {
    mine.foreign_closures.add(memory, *from);
  }
}

void held_tasks::hold(group_rest& group, detached_task& t) noexcept {
  t.home = &group;
  group.home.hold(group);
}

void held_tasks::release(detached_task& t) noexcept { t.home->home.release(t); }

}  // namespace detail
}  // namespace filch
