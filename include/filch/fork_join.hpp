// fork_join: run two or more callables, perhaps in parallel, and wait for all of them.
//
// Follows the direct task stack of Wool and Lace with the closure left where it is: the slot gets two words, the task's
// function and the address of a frame on the caller's C++ stack, which holds a pointer to the callable and later its
// result. Nothing else is written unless a thief comes.
#pragma once

#include <cassert>
#include <exception>
#include <memory>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include <filch/config.hpp>
#include <filch/detail/worker_core.hpp>
#include <filch/scheduler.hpp>
#include <filch/unit.hpp>

namespace filch {
namespace detail {

/// The callable of an offered branch: where it is, or a copy of it. A copy of a few words, of something that nobody
/// will look at again, costs less than an address more that has to be kept in memory.
template <class G>
class branch_callable {
 public:
  explicit branch_callable(std::remove_reference_t<G>& g) noexcept : g_(std::addressof(g)) {}
  [[nodiscard]] G&& get() noexcept { return std::forward<G>(*g_); }

 private:
  std::remove_reference_t<G>* g_;
};
template <class G>
  requires(!std::is_reference_v<G> && !std::is_const_v<G> && sizeof(G) <= 64 && std::is_trivially_copyable_v<G> &&
           std::is_trivially_copy_constructible_v<G>)
class branch_callable<G> {
 public:
  explicit branch_callable(const G& g) noexcept : g_(g) {}
  [[nodiscard]] G&& get() noexcept { return std::move(g_); }

 private:
  G g_;
};

/// Where the offered branch of one fork_join lives: in the caller's C++ frame. The result (or the exception) exists
/// only once a thief has run the branch; which of the two it is, the task's state says.
template <class G>
class branch_frame {
 public:
  using result = result_of<G>;

  explicit branch_frame(std::remove_reference_t<G>& g) noexcept : callable(g) {}
  branch_frame(const branch_frame&) = delete;
  branch_frame& operator=(const branch_frame&) = delete;
  ~branch_frame() {}  // what a thief left is ended by join or drop

  static run_result run(task& t, run_by /*who*/) {
    branch_frame& frame = in(static_cast<slot&>(t));
    try {
      if constexpr (std::is_reference_v<result>) {
        frame.value_ = std::addressof(detail::call(frame.callable.get()));
      } else {
        ::new (static_cast<void*>(std::addressof(frame.value_))) result(detail::call(frame.callable.get()));
      }
      return run_result::done;
    } catch (...) {
      ::new (static_cast<void*>(std::addressof(frame.error_))) std::exception_ptr(std::current_exception());
      return run_result::failed;
    }
  }

  /// The slow join: hands out what the thief left, its result or the exception, or runs the branch after all.
  [[gnu::cold, gnu::noinline]] static result join(worker_core& w, slot& s) {
    branch_frame& frame = in(s);
    const join_result how = join_guarded(w, s);
    if (how == join_result::reclaimed) return detail::call(frame.callable.get());
    const ender end{frame, how};
    if (how == join_result::failed) std::rethrow_exception(frame.error_);
    if constexpr (std::is_reference_v<result>) {
      return static_cast<result>(*frame.value_);
    } else {
      return std::move(frame.value_);
    }
  }

  /// Another branch threw: forgets the branch, and what the thief left.
  [[gnu::cold, gnu::noinline]] static void drop(worker_core& w, slot& s) noexcept {
    branch_frame& frame = in(s);
    const join_result how = abandon(w, s);
    if (how != join_result::reclaimed) const ender end{frame, how};
  }

  branch_callable<G> callable;

 private:
  /// Found through the slot, so that on the fast path nothing needs the frame's address after the push.
  static branch_frame& in(const slot& s) noexcept { return *static_cast<branch_frame*>(s.context.load()); }

  struct ender {
    branch_frame& frame;
    join_result how;
    ~ender() {
      if (how == join_result::failed) {
        std::destroy_at(std::addressof(frame.error_));
      } else if (how == join_result::done) {
        std::destroy_at(std::addressof(frame.value_));
      }
    }
  };
  using stored = std::conditional_t<std::is_reference_v<result>, std::add_pointer_t<result>, std::remove_cv_t<result>>;

  union {
    stored value_;
    std::exception_ptr error_;
  };
};

template <class F, class G>
[[gnu::cold, gnu::noinline]] std::tuple<result_of<F>, result_of<G>> fork_join_otherwise(F& f, G&& g);

/// The two-way fork_join that all others are made of. Whoever knows that the thread is a worker says so, not to save
/// the test: each instantiation then has one caller, and gcc inlines it there, late enough that a recursion through it
/// is first split at its leaf test. (Forced inlining prevents that and makes fib a quarter slower.)
template <bool KnownWorker, class F, class G>
inline std::tuple<result_of<F>, result_of<G>> fork_join_pair(F&& f, G&& g) {
  worker_core* const w = self;
  branch_frame<G> frame(g);
  slot* const s = w->head.load();
  if (w->must_attend(s)) [[unlikely]] {
    // No worker, or the stack is full.
    if (w == &foreign_worker || s == w->end) {
      if constexpr (!std::is_lvalue_reference_v<F> && std::is_move_constructible_v<F>) {
        // Another object for the cold path: its address is taken there, and f itself can stay in registers.
        F moved(std::forward<F>(f));
        return fork_join_otherwise<F, G>(moved, frame.callable.get());
      } else {
        return fork_join_otherwise<F, G>(f, frame.callable.get());
      }
    }
    push_attending(*w, *s, &branch_frame<G>::run, &frame);
  } else {
    s->run.store(&branch_frame<G>::run);
    s->context.store(&frame);
    platform::signal_fence();  // an interrupt that sees the task sees all of it
    w->head.store(s + 1);
  }

  result_of<F> first = [&]() -> result_of<F> {
    try {
      return detail::call(std::forward<F>(f));
    } catch (...) {
      branch_frame<G>::drop(*w, *s);
      throw;
    }
  }();

  if constexpr (checks) assert(w->guard.load() > s || only_joined_above(*w, s));  // none would be lost
  w->head.store(s);
  // A handler that runs on this thread offers only below head; after this fence it can no longer offer `s`
  // (docs/protocols/interrupt.md, "Join").
  platform::signal_fence();
  if (platform::is_above(w->guard, s)) [[unlikely]]
    return {std::forward<result_of<F>>(first), branch_frame<G>::join(*w, *s)};
  if (w->must_attend(s)) [[unlikely]]
    attend(*w);
  return {std::forward<result_of<F>>(first), detail::call(frame.callable.get())};
}

template <class F, class G>
std::tuple<result_of<F>, result_of<G>> fork_join_otherwise(F& f, G&& g) {
  if (self == &foreign_worker) {
    return scheduler::default_scheduler().run(
        [&]() { return fork_join_pair<true>(std::forward<F>(f), std::forward<G>(g)); });
  }
  if (self->must_attend(nullptr)) attend(*self);
  result_of<F> first = detail::call(std::forward<F>(f));
  return {std::forward<result_of<F>>(first), detail::call(std::forward<G>(g))};
}

}  // namespace detail

/// Runs f and g, perhaps in parallel, and returns both results as a tuple; a void result becomes `filch::unit`.
///
/// The calling thread runs f at once. Meanwhile an idle worker may run g; otherwise the caller runs it after f. The
/// function returns on the thread that called it. While it waits for a g that somebody else runs, the caller runs
/// nothing but parts of that g (unless the scheduler's join is `random`), so a mutex may be held across the call.
///
/// @throws what f or g throws. If both throw, f's exception. A g that has not begun when f throws is not run; one that
///         runs is waited for.
/// @par Complexity no allocation, no atomic read-modify-write and no fence unless somebody asks for work.
/// @par Thread safety any thread; a thread outside of every scheduler runs it in `scheduler::default_scheduler()`.
template <class F, class G>
inline auto fork_join(F&& f, G&& g) {
  return detail::fork_join_pair<false>(std::forward<F>(f), std::forward<G>(g));
}

/// Three or more: fork_join(f, g, h) is fork_join(f, { g and h }) with the results in one tuple. Of several exceptions
/// the one of the leftmost callable is thrown.
template <class F, class G, class H, class... More>
inline auto fork_join(F&& f, G&& g, H&& h, More&&... more) {
  auto [first, rest] = detail::fork_join_pair<false>(std::forward<F>(f), [&]() {
    return fork_join(std::forward<G>(g), std::forward<H>(h), std::forward<More>(more)...);
  });
  return std::tuple_cat(std::tuple<detail::result_of<F>>(std::forward<detail::result_of<F>>(first)), std::move(rest));
}

}  // namespace filch
