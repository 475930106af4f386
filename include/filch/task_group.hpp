// task_group: any number of tasks that are waited for together.
//
// The group that belongs innermost on its worker's task stack keeps its tasks there: no allocation for closures of up to
// 40 bytes, no fence, no atomic read-modify-write. Any other use (a group of an enclosing scope, a member of an object,
// another task's group, a group of a thread outside of the scheduler) goes through detached tasks on the heap, which
// idle workers and the group's own `wait` take.
//
// Invariants
//  1. The tasks on the stack are the slots [base_, top_) of `owner_`, contiguous and in spawn order; only the owner's
//     thread, in the activation that constructed the group, pushes there.
//  2. It may only push when head == top_, and only when the group lies on the C++ stack inside the frame of the task
//     that was newest at construction: then every slot below base_ outlives the group.
//  3. A wait may find other tasks above top_ (two groups waited for in the order they were made, or a wait inside a
//     branch). It then runs its own tasks where they are and leaves empty tasks in their slots, which the group's
//     destructor takes off.
//  4. pending_ counts the detached tasks that have not finished; it changes under the lock of the scheduler's board.
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>
#include <exception>
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

class detached_board;
struct group_waiter;

/// A task of a group that is not on any task stack.
struct detached_task : task {
  task_group* group = nullptr;
  std::uint64_t order = 0;           ///< place in the group's spawn order
  detached_task* next = nullptr;     ///< in the group's queue or list of taken tasks
  detached_task* previous = nullptr;
};

}  // namespace detail

/// Runs tasks and waits for all of them.
///
/// Thread safety: `run` and `cancel` may be called by any thread and by tasks of the group itself, also while another
/// thread is in `wait`. `wait` is for whoever constructed the group, or, when the group does not lie on the C++ stack of
/// a task, for anybody but its own tasks. To construct, run and wait in one function is usual and the fastest.
class task_group {
 public:
  task_group() noexcept : task_group(std::stop_token{}) {}
  /// A group that counts as cancelled as soon as a stop is requested.
  explicit task_group(std::stop_token stop) noexcept;
  /// Waits for tasks that were not waited for; when an exception is on its way through, those that have not begun are
  /// skipped. Exceptions of tasks are lost here: call wait().
  ~task_group();
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
  group_status wait();

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
  friend class detail::detached_board;

  template <class F>
  struct stack_closure;
  template <class F>
  struct detached_closure;

  /// Where in the spawn order a task on the stack is; detached tasks come after those.
  static constexpr std::uint64_t first_detached = std::uint64_t{1} << 40;

  template <class F>
  void run_body(F& f, std::uint64_t order) noexcept;
  template <class F>
  void push(detail::worker_core& w, detail::slot& s, F&& f);
  void push_detached(detail::detached_task& t) noexcept;
  void bind_board();
  void end_detached(detail::detached_task& t) noexcept;
  void record(std::uint64_t order) noexcept;

  void wait_for_stack(detail::worker_core& w) noexcept;
  void wait_for_detached();
  [[nodiscard]] bool on_stack_of(const detail::worker_core& w) const noexcept {
    return &w == owner_ && w.activation == activation_;
  }
  [[nodiscard]] std::uint64_t order_of(const detail::slot& s) const noexcept {
    return static_cast<std::uint64_t>(&s - base_);
  }

  detail::worker_core* owner_ = nullptr;  ///< worker whose stack may be used, or null
  std::uint64_t activation_ = 0;          ///< of the owner at construction
  detail::slot* base_ = nullptr;
  detail::slot* top_ = nullptr;
  std::uint64_t run_at_once_ = 0;  ///< tasks that run() ran itself because the stack was full
  int unwinding_;                  ///< exceptions in flight at construction
  std::stop_token stop_;
  std::atomic<bool> canceled_{false};
  std::atomic<bool> failed_{false};

  // Detached tasks; all under the board's lock.
  std::atomic<detail::detached_board*> board_{nullptr};
  std::atomic<std::uint64_t> pending_{0};
  std::uint64_t detached_ = 0;  ///< detached so far; gives their order
  detail::detached_task* queue_first_ = nullptr;
  detail::detached_task* queue_last_ = nullptr;
  detail::detached_task* taken_ = nullptr;
  detail::group_waiter* waiters_ = nullptr;
  task_group* next_ready_ = nullptr;  ///< in the board's list of groups with queued tasks
  std::uint64_t error_order_ = 0;
  std::exception_ptr error_;
};

template <class F>
struct task_group::stack_closure {
  /// Kept in the slot when it fits, behind a pointer otherwise.
  static constexpr bool in_slot = sizeof(F) <= detail::closure_bytes && alignof(F) <= alignof(void*) &&
                                  std::is_nothrow_move_constructible_v<F>;

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
    auto& group = *static_cast<task_group*>(s.context);
    const std::uint64_t order = group.order_of(s);
    if constexpr (!in_slot) {
      const std::unique_ptr<F> f(*std::launder(reinterpret_cast<F**>(s.closure)));
      if (who == detail::run_by::owner) s.run = &run_nothing;
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
      s.run = &run_nothing;
      group.run_body(f, order);
    }
    return detail::run_result::done;
  }

  /// What is left in a slot that its owner emptied before it was the topmost.
  static detail::run_result run_nothing(detail::task& /*t*/, detail::run_by /*who*/) {
    return detail::run_result::done;
  }
};

template <class F>
struct task_group::detached_closure : detail::detached_task {
  union {
    F f;
  };

  template <class G>
  explicit detached_closure(G&& from) : f(std::forward<G>(from)) {
    run = &run_detached;
  }
  ~detached_closure() {}  // f is ended by run_detached
  detached_closure(const detached_closure&) = delete;
  detached_closure& operator=(const detached_closure&) = delete;

  static detail::run_result run_detached(detail::task& t, detail::run_by /*who*/) {
    // The closure ends before the group can: what it captured may go away with the group. The memory ends last.
    const std::unique_ptr<detached_closure> closure(&static_cast<detached_closure&>(t));
    closure->group->run_body(closure->f, closure->order);
    std::destroy_at(std::addressof(closure->f));
    closure->group->end_detached(*closure);
    return detail::run_result::released;
  }
};

template <class F>
void task_group::run_body(F& f, std::uint64_t order) noexcept {
  if (canceled()) return;
  try {
    std::move(f)();
  } catch (...) {
    record(order);
  }
}

template <class F>
void task_group::push(detail::worker_core& w, detail::slot& s, F&& f) {
  using closure = stack_closure<std::decay_t<F>>;
  closure::store(s, std::forward<F>(f));
  s.run = &closure::run;
  s.context = this;
  top_ = &s + 1;
  w.head.store(&s + 1);
}

template <class F>
void task_group::run(F&& f) {
  detail::worker_core& w = *detail::self;
  detail::slot* const s = w.head.load();
  if (!on_stack_of(w) || s != top_) {
    bind_board();
    push_detached(*new detached_closure<std::decay_t<F>>(std::forward<F>(f)));
  } else if (!w.must_attend(s)) [[likely]] {
    push(w, *s, std::forward<F>(f));
  } else if (s != w.end) {
    push(w, *s, std::forward<F>(f));
    detail::attend(w);
  } else {
    std::decay_t<F> body(std::forward<F>(f));
    run_body(body, order_of(*s) + run_at_once_++);
  }
}

}  // namespace filch
