// task_group: any number of tasks that are waited for together.
//
// The group that belongs innermost on its worker's task stack keeps its tasks there: no allocation for closures of up
// to 40 bytes, no fence, no atomic read-modify-write. Any other use (a group of an enclosing scope, a member of an
// object, another task's group, a group of a thread outside of the scheduler) goes through detached tasks on the heap,
// which idle workers and the group's own `wait` take.
//
// Invariants
//  1. The tasks on the stack are the slots [span_.base, span_.top) of one worker, contiguous and in spawn order; only
//     the activation that constructed the group pushes there, known by its frame.
//  2. It pushes only when head is its top, and only if it lies on the C++ stack of its activation. So it ends before
//     that does, and whoever constructed it waits for it.
//  3. A span that is not empty is linked to its worker, which raises the worker's guard above all older tasks. A join
//     of one of these finds what the group left above it (an std::optional filled inside a branch and used after it,
//     say) and makes it detached tasks.
//  4. A wait may find other tasks above the group's. Those of other groups it detaches. Below a pending branch it runs
//     its own tasks where they are and leaves empty ones in their slots, which a later wait takes off, or the join of
//     an older branch when the group is gone by then.
//  5. What only some groups need, detached tasks and exceptions, is in rest_, made when it is first needed.
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>
#include <memory>
#include <new>
#include <stop_token>
#include <type_traits>
#include <utility>

#include <filch/detail/worker_core.hpp>
#include <filch/scheduler.hpp>

namespace filch {

/// How a group ended.
enum class group_status : std::uint8_t {
  complete,  ///< every task ran
  canceled   ///< cancel() was called or a stop was requested; tasks that had not begun were skipped
};

class task_group;

namespace detail {

class group_rest;

/// A task of a group that is not on any task stack.
struct detached_task : task {
  static constexpr std::uint64_t last = ~std::uint64_t{0};
  group_rest* home = nullptr;
  std::uint64_t order = last;     ///< place in the group's spawn order; last: after all others so far
  detached_task* next = nullptr;  ///< in the group's queue or list of taken tasks
  detached_task* previous = nullptr;
};

}  // namespace detail

/// Runs tasks and waits for all of them.
///
/// Thread safety: `run` and `cancel` may be called by any thread and by tasks of the group itself, also while another
/// thread is in `wait`. `wait` is for whoever constructed the group, or, when the group does not lie on the C++ stack
/// of a task, for anybody but its own tasks. To construct, run and wait in one function is usual and the fastest.
class task_group {
 public:
  task_group() noexcept { choose_owner(); }
  /// A group that counts as cancelled as soon as a stop is requested.
  explicit task_group(std::stop_token stop) noexcept : stop_(std::move(stop)) { choose_owner(); }
  /// Waits for tasks that were not waited for; while an exception is on its way through, those that have not begun are
  /// skipped. Exceptions of tasks are lost here: call wait().
  ~task_group() {
    if (span_.top != span_.base || rest_.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
      end();
  }
  task_group(const task_group&) = delete;
  task_group& operator=(const task_group&) = delete;

  /// Adds a task. f is copied or moved into it and called once, or not at all when the group is cancelled before.
  /// @throws what copying f throws; std::bad_alloc.
  /// @par Complexity constant; no allocation on the innermost group for closures of up to 40 bytes that move without
  ///      throwing.
  template <class F>
  void run(F&& f);

  /// Runs tasks of the group until all have finished; runs nothing else (unless the join is `random`). Afterwards the
  /// group can be used again.
  /// @throws of the exceptions that tasks threw the one that is first in spawn order.
  group_status wait() {
    if (on_stack_of(*detail::self)) wait_for_newest(*detail::self);
    if (rest_.load(std::memory_order_relaxed) == nullptr && !canceled()) [[likely]]
      return group_status::complete;
    return wait_for_rest();
  }

  /// Skips the tasks that have not begun. Those that run go on; they may ask canceled().
  void cancel() noexcept {
    // [GC1] relaxed: a request; the tasks' own results are ordered by their joins.
    canceled_.store(true, std::memory_order_relaxed);
  }

  /// Is the group cancelled, or a stop requested?
  [[nodiscard]] bool canceled() const noexcept {
    return canceled_.load(std::memory_order_relaxed) || stop_.stop_requested();  // [GC1]
  }

 private:
  template <class F>
  struct stack_closure;
  template <class F>
  struct detached_closure;

  void choose_owner() noexcept;
  template <class F, class Order>
  void run_body(F& f, Order order) noexcept;
  template <class F>
  [[gnu::cold, gnu::noinline]] void run_otherwise(F&& f);
  template <class F>
  void push(detail::worker_core& w, detail::slot& s, F&& f);
  static void push_detached(detail::group_rest& to, detail::detached_task& t) noexcept;
  void detach(detail::detached_task& t, const detail::slot& from) noexcept;
  static void end_detached(detail::detached_task& t) noexcept;
  void record(std::uint64_t order) noexcept;

  void wait_for_newest(detail::worker_core& w) noexcept;
  void wait_for_stack(detail::worker_core& w) noexcept;
  group_status wait_for_rest();
  detail::group_rest* wait_for_detached();
  void end();
  detail::group_rest& rest();
  [[nodiscard]] bool on_stack_of(const detail::worker_core& w) const noexcept { return w.frame == frame_; }
  [[nodiscard]] std::uint64_t order_of(const detail::slot& s) const noexcept {
    return static_cast<std::uint64_t>(&s - span_.base);
  }

  const void* frame_ = nullptr;  ///< of the activation whose worker's stack may be used; null: none
  detail::stack_span span_;
  platform::atomic<detail::group_rest*> rest_{nullptr};
  std::uint64_t run_at_once_ = 0;  ///< tasks that run() ran itself because the stack was full
  std::stop_token stop_;
  platform::atomic<bool> canceled_{false};
};

template <class F>
struct task_group::detached_closure : detail::detached_task {
  task_group& group;
  union {
    F f;
  };

  template <class G>
  detached_closure(task_group& of, G&& from) : group(of), f(std::forward<G>(from)) {
    run.store(&run_detached);
  }
  ~detached_closure() {}  // f is ended by run_detached
  detached_closure(const detached_closure&) = delete;
  detached_closure& operator=(const detached_closure&) = delete;

  static detail::run_result run_detached(detail::task& t, detail::run_by /*who*/) {
    // The closure ends before the group can: what it captured may go away with the group. The memory ends last.
    const std::unique_ptr<detached_closure> closure(&static_cast<detached_closure&>(t));
    closure->group.run_body(closure->f, [&]() noexcept { return closure->order; });
    std::destroy_at(std::addressof(closure->f));
    end_detached(*closure);
    return detail::run_result::released;
  }
};

template <class F>
struct task_group::stack_closure {
  /// Kept in the slot when it fits, behind a pointer otherwise.
  static constexpr bool in_slot =
      sizeof(F) <= detail::closure_bytes && alignof(F) <= alignof(void*) && std::is_nothrow_move_constructible_v<F>;

  template <class G>
  static void store(detail::slot& s, G&& f) {
    if constexpr (in_slot) {
      ::new (static_cast<void*>(s.closure)) F(std::forward<G>(f));
    } else {
      ::new (static_cast<void*>(s.closure)) F*(new F(std::forward<G>(f)));
    }
  }

  static detail::run_result run(detail::task& t, detail::run_by who) {
    auto& s = static_cast<detail::slot&>(t);
    auto& group = *static_cast<task_group*>(s.context.load());
    const auto order = [&]() noexcept { return group.order_of(s); };
    if constexpr (!in_slot) {
      const std::unique_ptr<F> f(*std::launder(reinterpret_cast<F**>(s.closure)));
      if (who == detail::run_by::nobody) {
        group.detach(*new detached_closure<F>(group, std::move(*f)), s);
        return detail::run_result::done;
      }
      group.run_body(*f, order);
    } else if (who == detail::run_by::thief) {
      // The slot stays until its owner's join, so the closure can be called where it is.
      F& f = *std::launder(reinterpret_cast<F*>(s.closure));
      group.run_body(f, order);
      std::destroy_at(&f);
    } else {
      // The owner's own forks will use the slot again: out with the closure first.
      F& stored = *std::launder(reinterpret_cast<F*>(s.closure));
      F f(std::move(stored));
      std::destroy_at(&stored);
      if (who == detail::run_by::nobody) {
        group.detach(*new detached_closure<F>(group, std::move(f)), s);
        return detail::run_result::done;
      }
      group.run_body(f, order);
    }
    return detail::run_result::done;
  }
};

template <class F, class Order>
void task_group::run_body(F& f, Order order) noexcept {
  if (canceled()) return;
  try {
    std::move(f)();
  } catch (...) {
    record(order());
  }
}

template <class F>
void task_group::push(detail::worker_core& w, detail::slot& s, F&& f) {
  using closure = stack_closure<std::decay_t<F>>;
  closure::store(s, std::forward<F>(f));
  s.run.store(&closure::run);
  s.context.store(this);
  if (&s == span_.base) w.link(span_);
  span_.top = &s + 1;
  platform::signal_fence();  // as in fork_join
  w.head.store(&s + 1);
}

inline void task_group::wait_for_newest(detail::worker_core& w) noexcept {
  while (span_.top != span_.base) {
    detail::slot* const s = span_.top - 1;
    if (w.head.load() != span_.top) [[unlikely]]
      return wait_for_stack(w);
    w.head.store(s);
    platform::signal_fence();  // as in fork_join
    if (w.split.load() > s || w.must_attend(s)) [[unlikely]] {
      w.head.store(s + 1);
      return wait_for_stack(w);
    }
    span_.top = s;
    if (s == span_.base) w.unlink(span_);
    s->run.load()(*s, detail::run_by::owner);
  }
}

template <class F>
inline void task_group::run(F&& f) {
  detail::worker_core& w = *detail::self;
  detail::slot* const s = w.head.load();
  if (on_stack_of(w) && s == span_.top && !w.must_attend(s)) [[likely]] {
    push(w, *s, std::forward<F>(f));
  } else if constexpr (!std::is_lvalue_reference_v<F> && std::is_move_constructible_v<F>) {
    // Another object for the cold path, whose address is taken there: f itself is built in the slot.
    F moved(std::forward<F>(f));
    run_otherwise(std::move(moved));
  } else {
    run_otherwise(std::forward<F>(f));
  }
}

template <class F>
void task_group::run_otherwise(F&& f) {
  detail::worker_core& w = *detail::self;
  detail::slot* const s = w.head.load();
  if (!on_stack_of(w) || s != span_.top) {
    detail::group_rest& to = rest();  // may throw, and must then do so before the closure is made
    push_detached(to, *new detached_closure<std::decay_t<F>>(*this, std::forward<F>(f)));
  } else if (s != w.end) {
    push(w, *s, std::forward<F>(f));
    detail::attend(w);
  } else {
    std::decay_t<F> body(std::forward<F>(f));
    run_body(body, [&, n = run_at_once_++]() noexcept { return order_of(*s) + n; });
  }
}

}  // namespace filch
