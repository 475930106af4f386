// task_group: any number of tasks that are waited for together.
//
// A group that lies on the C++ stack of the task that made it keeps what that task adds on its worker's task stack: no
// allocation for closures of up to 40 bytes, no fence, no atomic read-modify-write, whatever other groups and branches
// are pending. What others add, and all tasks of a group elsewhere (a member of an object on the heap, a group of a
// thread outside of the scheduler), are detached tasks on the heap, which idle workers and the group's own `wait` take.
//
// Invariants
//  1. The tasks on the stack are runs of consecutive slots of one worker, in spawn order; only the activation that
//     constructed the group pushes there, known by its frame. [first_, last_) is the newest run, and others are found
//     from there (group_run).
//  2. The group ends before its activation does, and whoever constructed it waits for it.
//  3. A run that is not empty is linked to its worker, which raises the worker's guard above all older tasks. So a join
//     of one of these finds the tasks that the group has left above it (an std::optional filled inside a branch and
//     used after it, say), and leaves them where they are (docs/protocols/wait.md, "Groups").
//  4. What only some groups need, detached tasks and exceptions, is in rest_, made when it is first needed.
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <stop_token>
#include <type_traits>
#include <utility>
#include <vector>

#include <filch/config.hpp>
#include <filch/detail/detached_task.hpp>
#include <filch/detail/division.hpp>
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
struct held_tasks;
class worker;

}  // namespace detail

/// Runs tasks and waits for all of them.
///
/// Thread safety: `run` and `cancel` may be called by any thread and by tasks of the group itself, also while another
/// thread is in `wait`. `wait` is for whoever constructed the group, or, when the group does not lie on the C++ stack
/// of a task, for anybody but its own tasks. To construct, run and wait in one function is usual and the fastest. A group
/// belongs to the scheduler in which it first has tasks, and ends before that does.
class FILCH_API task_group {
 public:
  task_group() noexcept { choose_owner(); }
  /// A group that counts as cancelled as soon as a stop is requested.
  explicit task_group(std::stop_token stop) noexcept : stop_(std::move(stop)) { choose_owner(); }
  /// A group whose tasks' amounts of work are given with them (`run(f, work)`) and add up to `total`, in any unit: a hint,
  /// which policy `adws` divides the workers by.
  /// @throws std::invalid_argument in builds that check contracts: the total is negative or no number.
  explicit task_group(double total, std::stop_token stop = {}) : total_(total), stop_(std::move(stop)) {
    if constexpr (detail::checks) static_cast<void>(detail::share_of(*detail::self, 0, total, total));
    choose_owner();
  }
  /// Waits for tasks that were not waited for; while an exception is on its way through that was not when the group was
  /// made, those that have not begun are skipped. Exceptions of tasks are lost here: call wait().
  ~task_group() {
    if (last_ != nullptr || rest_.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
      end();
  }
  task_group(const task_group&) = delete;
  task_group& operator=(const task_group&) = delete;

  /// Adds a task. f is copied or moved into it and called once, as an rvalue, or not at all when the group is cancelled before. What it
  /// throws comes out of wait(), and stops no other task of the group, begun or not; where the others are in vain, f calls cancel().
  /// @throws what copying f throws; std::bad_alloc; of a thread that is no worker, what starting the default scheduler throws.
  ///         Then nothing was added.
  /// @par Complexity constant; no allocation for closures of up to 40 bytes, by the task that made the group on its C++
  ///      stack.
  template <class F>
  void run(F&& f);

  /// The same for a task that does so much of the group's total work: a hint. What no task was said to do is done by
  /// whoever calls, before it waits.
  /// In a group without a total it is ignored.
  /// @throws std::invalid_argument in addition, in builds that check contracts: the hint is negative, no number, or more
  ///         than the total, or than what is left of it where that is known.
  template <class F>
  void run(F&& f, double work);

  /// Runs tasks of the group until all have finished, also when one has thrown; runs nothing else (unless the join is `random`).
  /// Afterwards the group can be used again; it is cancelled no longer, which the result tells.
  /// @throws of the exceptions that tasks threw the one that is first in spawn order, to one of those who wait;
  ///         std::logic_error when the group lies on the C++ stack of another task, as in a branch or iteration that was
  ///         stolen; std::bad_alloc when there was no memory to keep a task's exception; outside of `run`, as that.
  group_status wait() {
    detail::worker_core& w = *detail::self;
    if (on_stack_of(w)) {
      wait_for_newest(w);
    } else if (frame_ != nullptr) [[unlikely]] {
      reject_wait();
    }
    if (rest_.load(std::memory_order_relaxed) == nullptr && !canceled() &&
        !lost_exception_.load(std::memory_order_relaxed)) [[likely]]  // [GR3]
      return group_status::complete;
    return wait_for_rest();
  }

  /// Skips the tasks that have not begun. Those that have go on, with the loops, groups and other constructs inside of them, which
  /// this does not reach. They may ask canceled(). To end loops as well, give the group and them one std::stop_token, and request
  /// the stop in place of this: task_group group(source.get_token()), parallel_for(0, n, body, source.get_token()).
  void cancel() noexcept {
    // [GC1] relaxed: a request; the tasks' own results are ordered by their joins.
    canceled_.store(true, std::memory_order_relaxed);
  }

  /// Is the group cancelled, or a stop requested?
  [[nodiscard]] bool canceled() const noexcept {
    return canceled_.load(std::memory_order_relaxed) || stop_.stop_requested();  // [GC1]
  }

 private:
  friend struct detail::held_tasks;
  template <class F>
  struct plain_closure;
  template <class F>
  struct built_closure;
  template <class F>
  struct heap_closure;
  template <class F>
  struct detached_closure;

  class detached_tasks;

  void choose_owner() noexcept;
  template <class F, class Order>
  void run_body(F& f, Order order) noexcept;
  template <class F>
  void run_at_once(F& f) noexcept;
  template <class F>
  [[gnu::noinline]] void run_otherwise(F&& f);
  template <class F>
  [[gnu::cold, gnu::noinline]] void run_divided(F&& f, double work);
  template <class F>
  bool push_any(detail::worker_core& w, F&& f);
  detail::division& divided(detail::worker_core& w, double*& work_left);
  template <class Closure, class Stored>
  void push(detail::worker_core& w, detail::slot* head, Stored&& stored) noexcept;
  template <class F>
  bool push_built(detail::worker_core& w, F&& f);
  void begin_run_at(detail::worker_core& w, detail::slot* head) noexcept;
  detail::slot* begin_run(detail::worker_core& w, detail::slot* head) noexcept;
  void add_slot(detail::worker_core& w, detail::slot& s, detail::task_function function) noexcept;
  detail::slot* take_off(const detail::worker_core& w, detail::slot* newest) noexcept;
  detail::slot* take_off_newest(detail::worker_core& w, detail::slot* newest) noexcept;
  static void push_detached(detail::group_rest& to, detail::detached_task& t) noexcept;
  static void end_detached(detail::detached_task& t) noexcept;
  void record(std::uint64_t order) noexcept;

  [[nodiscard]] bool is_newest(const detail::worker_core& w, const detail::slot* head) const noexcept;
  void wait_for_newest(detail::worker_core& w) noexcept;
  void wait_on_stack(detail::worker_core& w) noexcept;
  [[nodiscard]] std::vector<detail::slot*> slots(const detail::worker_core& w) const;
  void divide(detail::worker& w, detail::division& tasks) noexcept;
  void run_kept(detail::worker& w) noexcept;
  group_status wait_for_rest();
  detail::group_rest* wait_for_detached();
  [[noreturn]] static void reject_wait();
  void end();
  detail::group_rest& rest();
  /// Null: the calling worker is not profiled.
  detail::profiled_construct* profiled() noexcept;
  [[nodiscard]] bool on_stack_of(const detail::worker_core& w) const noexcept { return w.inner.frame == frame_; }
  /// Place in the spawn order of those on the stack, before that of all others. Of several that run() ran itself while
  /// this was the next slot the first one to fail is the first in this order too.
  [[nodiscard]] static std::uint64_t order_before(const detail::slot& s) noexcept {
    return reinterpret_cast<std::uintptr_t>(&s) / sizeof(detail::slot) * 2;
  }
  [[nodiscard]] static std::uint64_t order_of(const detail::slot& s) noexcept { return order_before(s) + 1; }

  const void* frame_ = nullptr;    ///< of the activation whose worker's stack may be used; null: none
  detail::slot* first_ = nullptr;  ///< of its newest run; null: none
  detail::slot* last_ = nullptr;   ///< one past its newest task on the stack; null: none
  platform::atomic<detail::group_rest*> rest_{nullptr};
  void* scope_ = nullptr;  ///< at a place: the finish in which a group with a frame was made
  double total_ = 0;       ///< of the hints; 0: none was said
  std::stop_token stop_;
  unsigned int unwinding_ = 0;  ///< exceptions in flight when it was made, since its activation began
  platform::atomic<bool> canceled_{false};
  platform::atomic<bool> lost_exception_{false};  ///< there was no memory to keep one
};

template <class F>
struct task_group::detached_closure : detail::detached_task {
  task_group& group;
  detail::closure_pool* pool = nullptr;
  union {
    F f;
  };

  template <class G>
  detached_closure(task_group& of, G&& from) : group(of), f(std::forward<G>(from)) {
    run.store(&run_detached);
  }
  template <class G>
  static detached_closure& make(detail::group_rest& rest, task_group& of, G&& from) {
    if constexpr (is_pooled()) {
      detail::closure_memory memory(rest);
      auto* const made = ::new (memory.get()) detached_closure(of, std::forward<G>(from));
      made->pool = memory.keep();
      return *made;
    } else {
      return *new detached_closure(of, std::forward<G>(from));
    }
  }
  ~detached_closure() {}  // f is ended by run_detached
  detached_closure(const detached_closure&) = delete;
  detached_closure& operator=(const detached_closure&) = delete;

  static detail::run_result run_detached(detail::task& t, detail::run_by /*who*/) {
    // The closure ends before the group can: what it captured may go away with the group. The memory ends last.
    auto& closure = static_cast<detached_closure&>(t);
    closure.group.run_body(closure.f, [&]() noexcept { return closure.order; });
    std::destroy_at(std::addressof(closure.f));
    end_detached(closure);
    if constexpr (is_pooled()) {
      detail::closure_pool* const from = closure.pool;
      std::destroy_at(&closure);
      detail::closure_memory::end(&closure, from);
    } else {
      delete &closure;
    }
    return detail::run_result::released;
  }

  static constexpr bool is_pooled() noexcept {
    return sizeof(detached_closure) <= detail::pooled_bytes &&
           alignof(detached_closure) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;
  }
};

/// A closure that is bytes: copied into the slot, and out of it by the owner, whose own forks will use the slot again.
template <class F>
struct task_group::plain_closure {
  static void store(detail::slot& s, const F& f) noexcept { ::new (static_cast<void*>(s.closure)) F(f); }

  static detail::run_result run(detail::task& t, detail::run_by who) {
    auto& s = static_cast<detail::slot&>(t);
    auto& group = *static_cast<task_group*>(s.context.load());
    const auto order = [&]() noexcept { return order_of(s); };
    F& stored = *std::launder(reinterpret_cast<F*>(s.closure));
    if (who == detail::run_by::in_place) {
      group.run_body(stored, order);
    } else {
      F f(std::move(stored));
      group.run_body(f, order);
    }
    return detail::run_result::done;
  }
};

/// A closure whose constructors or destructor are the program's, and may do anything: made in the slot, called and
/// destroyed there, and never moved. The slot is in use meanwhile.
template <class F>
struct task_group::built_closure {
  static F& in(detail::slot& s) noexcept { return *std::launder(reinterpret_cast<F*>(s.closure)); }

  static detail::run_result run(detail::task& t, detail::run_by who) {
    auto& s = static_cast<detail::slot&>(t);
    auto& group = *static_cast<task_group*>(s.context.load());
    detail::worker_core& w = *detail::self;
    if (who == detail::run_by::owner) detail::begin_use(w, s);
    group.run_body(in(s), [&]() noexcept { return order_of(s); });
    std::destroy_at(&in(s));
    if (who == detail::run_by::owner) detail::end_use(w, s);
    return detail::run_result::done;
  }
};

/// A closure that does not fit into a slot, which has its address.
template <class F>
struct task_group::heap_closure {
  static void store(detail::slot& s, F* f) noexcept { ::new (static_cast<void*>(s.closure)) F*(f); }

  static detail::run_result run(detail::task& t, detail::run_by /*who*/) {
    auto& s = static_cast<detail::slot&>(t);
    auto& group = *static_cast<task_group*>(s.context.load());
    const std::unique_ptr<F> f(*std::launder(reinterpret_cast<F**>(s.closure)));
    group.run_body(*f, [&]() noexcept { return order_of(s); });
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
void task_group::run_at_once(F& f) noexcept {
  const detail::profiled_child here(profiled());
  run_body(f, [next = detail::self->head.load()]() noexcept { return order_before(*next); });
}

inline void task_group::begin_run_at(detail::worker_core& w, detail::slot* head) noexcept {
  w.begin_run(head, first_, last_);
  first_ = head;
}

/// Before a push onto what is not the group's newest task: takes joined slots off, and begins a run if the newest is not
/// the group's then either. The new head.
inline detail::slot* task_group::begin_run(detail::worker_core& w, detail::slot* head) noexcept {
  if (head != w.inner.floor && (head - 1)->run.load() == &detail::run_joined) [[unlikely]] {
    detail::drop_joined(w);
    head = w.head.load();
    if (head == last_) return head;
  }
  begin_run_at(w, head);
  return head;
}

/// Makes the newest slot, `s`, on which head is, a task of the group, whose newest run ends there.
inline void task_group::add_slot(detail::worker_core& w, detail::slot& s, detail::task_function function) noexcept {
  s.run.store(function);
  s.context.store(this);
  last_ = &s + 1;
  w.groups.block_end = &s + 1;
  platform::signal_fence();  // as in fork_join
  w.head.store(&s + 1);
}

/// The group's newest slot is no task of it any more. One past the newest that is; null: none.
inline detail::slot* task_group::take_off(const detail::worker_core& w, detail::slot* newest) noexcept {
  if (newest != first_) return last_ = newest;
  const detail::group_run& ended = w.run_at(newest);
  first_ = ended.older_first;
  return last_ = ended.older_last;
}

/// The same for the newest slot of all, which goes.
inline detail::slot* task_group::take_off_newest(detail::worker_core& w, detail::slot* newest) noexcept {
  w.groups.block_end = newest;
  if (newest != first_) return last_ = newest;
  const detail::group_run& ended = w.run_at(newest);
  if (newest == w.groups.newest_block.load()) w.end_block(ended);
  first_ = ended.older_first;
  return last_ = ended.older_last;
}

template <class Closure, class Stored>
[[gnu::always_inline]] inline void task_group::push(detail::worker_core& w, detail::slot* head,
                                                    Stored&& stored) noexcept {
  if (head != last_) [[unlikely]]
    head = begin_run(w, head);
  Closure::store(*head, std::forward<Stored>(stored));
  add_slot(w, *head, &Closure::run);
}

template <class F>
bool task_group::push_built(detail::worker_core& w, F&& f) {
  using body = std::decay_t<F>;
  using closure = built_closure<body>;
  if (detail::top_is_joined(w)) detail::drop_joined(w);
  detail::slot& s = *w.head.load();
  s.context.store(nullptr);
  detail::begin_use(w, s);
  try {
    ::new (static_cast<void*>(s.closure)) body(std::forward<F>(f));
  } catch (...) {
    detail::end_use(w, s);
    throw;
  }
  w.head.store(&s);
  platform::signal_fence();
  if (std::greater<>{}(w.guard.load(), &s) && !detail::regain(w, s)) {
    // The constructor has left tasks of a group above it.
    run_at_once(closure::in(s));
    std::destroy_at(&closure::in(s));
    detail::end_use(w, s);
    return false;
  }
  if (&s != last_) begin_run_at(w, &s);
  add_slot(w, s, &closure::run);
  return true;
}

/// Is the group's newest task the newest of its worker, but for joined slots?
inline bool task_group::is_newest(const detail::worker_core& w, const detail::slot* head) const noexcept {
  if (head == last_) return true;
  // Blocks end one by one: there must be none above the task.
  return std::less<>{}(w.groups.newest_block.load(), last_) && detail::only_joined_above(w, last_ - 1);
}

inline void task_group::wait_for_newest(detail::worker_core& w) noexcept {
  while (last_ != nullptr) {
    detail::slot* const head = w.head.load();
    detail::slot* const s = last_ - 1;
    if (!is_newest(w, head)) [[unlikely]]
      return wait_on_stack(w);
    w.head.store(s);
    platform::signal_fence();  // as in fork_join
    if (w.split.load() > s || w.must_attend(s)) [[unlikely]] {
      w.head.store(head);
      return wait_on_stack(w);
    }
    take_off_newest(w, s);
    s->run.load()(*s, detail::run_by::owner);
  }
  if (detail::top_is_joined(w)) [[unlikely]]
    detail::drop_joined(w);
}

namespace detail {

/// May a closure made from F be copied into and out of slots as bytes are?
template <class Closure, class F>
inline constexpr bool is_plain =
    sizeof(Closure) <= closure_bytes && alignof(Closure) <= alignof(void*) && std::is_trivially_copyable_v<Closure> &&
    std::is_trivially_constructible_v<Closure, F> && std::is_trivially_copy_constructible_v<Closure> &&
    std::is_trivially_move_constructible_v<Closure>;

}  // namespace detail

template <class F>
inline void task_group::run(F&& f) {
  using body = std::decay_t<F>;
  if constexpr (detail::is_plain<body, F>) {
    detail::worker_core& w = *detail::self;
    detail::slot* const head = w.head.load();
    if (on_stack_of(w) && !w.must_attend(head)) [[likely]] {
      push<plain_closure<body>>(w, head, f);
    } else {
      run_otherwise(body(f));  // another object, whose address is taken there: f itself is built in the slot
    }
  } else {
    run_otherwise(std::forward<F>(f));
  }
}

template <class F>
void task_group::run_otherwise(F&& f) {
  using body = std::decay_t<F>;
  detail::worker_core& w = *detail::self;
  if (!on_stack_of(w) || detail::is_clogged(w)) [[unlikely]] {
    detail::group_rest& to = rest();  // may throw, and must then do so before the closure is made
    push_detached(to, detached_closure<body>::make(to, *this, std::forward<F>(f)));
    return;
  }
  if (push_any(w, std::forward<F>(f)) && w.must_attend(w.head.load())) detail::attend_to_new(w, *(last_ - 1), this);
}

/// Pushes a task onto the stack, whatever its closure is. False: it has run instead, as the stack is full.
template <class F>
bool task_group::push_any(detail::worker_core& w, F&& f) {
  using body = std::decay_t<F>;
  if constexpr (detail::is_plain<body, F>) {
    if (w.head.load() == w.end) return run_at_once(f), false;
    push<plain_closure<body>>(w, w.head.load(), f);
    return true;
  } else if constexpr (sizeof(body) <= detail::closure_bytes && alignof(body) <= alignof(void*)) {
    if (w.head.load() == w.end) {
      body made(std::forward<F>(f));
      return run_at_once(made), false;
    }
    return push_built(w, std::forward<F>(f));
  } else {
    auto made = std::make_unique<body>(std::forward<F>(f));  // before the look at the stack: it may do anything
    if (w.head.load() == w.end) return run_at_once(*made), false;
    push<heap_closure<body>>(w, w.head.load(), made.release());
    return true;
  }
}

template <class F>
inline void task_group::run(F&& f, double work) {
  detail::worker_core& w = *detail::self;
  if constexpr (detail::checks) {
    const double most = total_ > 0 ? total_ : work;
    static_cast<void>(detail::share_of(w, work, most, most));
  }
  if (w.diverts && on_stack_of(w) && total_ > 0) [[unlikely]]
    return run_divided(std::forward<F>(f), work);
  run(std::forward<F>(f));
}

// In the paper's order: the calling worker's own child runs before the tasks that come after it.
template <class F>
void task_group::run_divided(F&& f, double work) {
  detail::worker_core& w = *detail::self;
  if (w.place.path.trace != nullptr || detail::is_profiled(w)) return run_otherwise(std::forward<F>(f));
  double* left = nullptr;
  detail::division& parts = divided(w, left);
  const double share = detail::share_of(w, work, *left, total_);
  *left -= work;
  if (parts.cut_off(share)) {
    detail::slot* const before = last_;
    if (push_any(w, std::forward<F>(f)) && last_ != before) parts.give(*(last_ - 1));
  } else {
    std::decay_t<F> made(std::forward<F>(f));
    parts.enter_child();
    run_at_once(made);
  }
  parts.enter_rest();
}

namespace detail {

/// Tasks that belong to a group from now on, and are begun later.
struct FILCH_API held_tasks {
  /// The group is not over until the task has run, which release() allows. Any thread that may call run().
  /// @throws as task_group::run.
  template <class F>
  [[nodiscard]] static detached_task& hold(task_group& group, F&& f) {
    group_rest& rest = group.rest();
    detached_task& t = task_group::detached_closure<std::decay_t<F>>::make(rest, group, std::forward<F>(f));
    hold(rest, t);
    return t;
  }
  /// The same for a task whose function ends it.
  static void adopt(task_group& group, detached_task& t) { hold(group.rest(), t); }
  /// Any thread, once.
  static void release(detached_task& t) noexcept;

 private:
  static void hold(group_rest& group, detached_task& t) noexcept;
};

}  // namespace detail
}  // namespace filch
