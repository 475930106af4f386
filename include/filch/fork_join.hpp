// fork_join: run two or more callables, perhaps in parallel, and wait for all of them.
//
// Follows the direct task stack of Wool and Lace: the slot gets the task's function and, where that is a few bytes, the
// callable, later its result. Other callables stay where they are; then the slot gets the address of a frame on the
// caller's C++ stack, which has a pointer to the callable, and later its result. Nothing else is written unless a thief
// comes.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include <filch/config.hpp>
#include <filch/detail/division.hpp>
#include <filch/detail/worker_core.hpp>
#include <filch/scheduler.hpp>
#include <filch/unit.hpp>

namespace filch {
namespace detail {

/// Bytes that a slot can keep.
template <class T>
inline constexpr bool fits_into_slot =
    sizeof(T) <= closure_bytes && alignof(T) <= alignof(void*) && std::is_trivially_copyable_v<T> &&
    std::is_trivially_copy_constructible_v<T> && std::is_trivially_move_constructible_v<T>;

/// What a thief leaves of a branch that it has run, unless that threw.
template <class Result>
using left_result =
    std::conditional_t<std::is_reference_v<Result>, std::add_pointer_t<Result>, std::remove_cv_t<Result>>;

/// Calls the branch, and keeps its result, or its exception, in `place`, which is that of neither yet.
template <class G>
run_result leave_result(G&& g, void* place) noexcept {
  using result = result_of<G>;
  try {
    if constexpr (std::is_reference_v<result>) {
      auto&& left = detail::call(std::forward<G>(g));
      ::new (place) left_result<result>(std::addressof(left));
    } else {
      ::new (place) left_result<result>(detail::call(std::forward<G>(g)));
    }
    return run_result::done;
  } catch (...) {
    ::new (place) std::exception_ptr(std::current_exception());
    return run_result::failed;
  }
}

/// The other side: hands out what was left, and ends it.
template <class Result>
Result take_result(join_result how, void* place) {
  if (how == join_result::failed) {
    auto* const left = std::launder(static_cast<std::exception_ptr*>(place));
    const std::exception_ptr error = std::move(*left);
    std::destroy_at(left);
    std::rethrow_exception(error);
  }
  auto* const left = std::launder(static_cast<left_result<Result>*>(place));
  if constexpr (std::is_reference_v<Result>) {
    return static_cast<Result>(**left);
  } else {
    struct ender {
      left_result<Result>* left;
      ~ender() { std::destroy_at(left); }
    } const end{left};
    return std::move(*left);
  }
}
template <class Result>
void drop_result(join_result how, void* place) noexcept {
  if (how == join_result::failed) {
    std::destroy_at(std::launder(static_cast<std::exception_ptr*>(place)));
  } else if (how == join_result::done) {
    std::destroy_at(std::launder(static_cast<left_result<Result>*>(place)));
  }
}

/// The offered branch of one fork_join, in general: the callable stays where it is, and what a thief leaves goes into the
/// caller's C++ frame. It is found through the slot, so that on the fast path nothing needs its address after the push.
template <class G>
class branch_in_frame {
 public:
  using result = result_of<G>;

  explicit branch_in_frame(std::remove_reference_t<G>& g) noexcept : g_(std::addressof(g)) {}
  branch_in_frame(const branch_in_frame&) = delete;
  branch_in_frame& operator=(const branch_in_frame&) = delete;

  void put_into(slot& s) noexcept {
    s.run.store(&run);
    s.context.store(this);
  }
  [[nodiscard]] G&& callable() noexcept { return std::forward<G>(*g_); }
  [[nodiscard]] G&& take_back(slot& /*s*/) noexcept { return callable(); }

  static run_result run(task& t, run_by /*who*/) {
    branch_in_frame& branch = in(static_cast<slot&>(t));
    return detail::leave_result<G>(branch.callable(), branch.left_);
  }
  /// The slow join: runs the branch after all, or hands out what the thief has left.
  [[gnu::cold, gnu::noinline]] static result join(worker_core& w, slot& s) { return finish(join_guarded(w, s), s); }
  /// After a join of that kind: runs the branch after all, or hands out what was left.
  static result finish(join_result how, slot& s) {
    branch_in_frame& branch = in(s);
    if (how == join_result::reclaimed) return detail::call(branch.callable());
    return detail::take_result<result>(how, branch.left_);
  }
  /// Another branch threw: forgets this one, and what the thief has left.
  [[gnu::cold, gnu::noinline]] static void drop(worker_core& w, slot& s) noexcept {
    branch_in_frame& branch = in(s);
    detail::drop_result<result>(abandon(w, s), branch.left_);
  }

 private:
  static branch_in_frame& in(const slot& s) noexcept { return *static_cast<branch_in_frame*>(s.context.load()); }

  std::remove_reference_t<G>* g_;
  static constexpr std::size_t left_bytes = std::max(sizeof(left_result<result>), sizeof(std::exception_ptr));
  static constexpr std::size_t left_alignment = std::max(alignof(left_result<result>), alignof(std::exception_ptr));
  alignas(left_alignment) std::byte left_[left_bytes];
};

/// The same for a few bytes that nobody will look at again, with a result of a few bytes: both fit into the slot, first
/// the one, then the other. So no address of the caller's frame gets out, and compilers keep all of it in registers.
template <class G>
class branch_in_slot {
 public:
  using result = result_of<G>;

  explicit branch_in_slot(const G& g) noexcept : g_(g) {}
  branch_in_slot(const branch_in_slot&) = delete;
  branch_in_slot& operator=(const branch_in_slot&) = delete;

  void put_into(slot& s) const noexcept {
    s.run.store(&run);
    ::new (static_cast<void*>(s.closure)) G(g_);
  }
  [[nodiscard]] G callable() const noexcept { return g_; }
  /// Out of the slot: so the callable has no place in the caller's frame meanwhile.
  [[nodiscard]] static G take_back(slot& s) noexcept { return in(s); }

  static run_result run(task& t, run_by /*who*/) {
    auto& s = static_cast<slot&>(t);
    G g(in(s));
    return detail::leave_result<G>(std::move(g), s.closure);
  }
  [[gnu::cold, gnu::noinline]] static result join(worker_core& w, slot& s) { return finish(join_guarded(w, s), s); }
  static result finish(join_result how, slot& s) {
    if (how != join_result::reclaimed) return detail::take_result<result>(how, s.closure);
    G g(in(s));  // its own forks will use the slot
    return detail::call(std::move(g));
  }
  [[gnu::cold, gnu::noinline]] static void drop(worker_core& w, slot& s) noexcept {
    detail::drop_result<result>(abandon(w, s), s.closure);
  }

 private:
  static const G& in(slot& s) noexcept { return *std::launder(reinterpret_cast<const G*>(s.closure)); }

  G g_;
};

template <class G>
struct branch_of {
  using type = branch_in_frame<G>;
};
template <class G>
  requires(!std::is_reference_v<G> && !std::is_const_v<G> && fits_into_slot<G> &&
           fits_into_slot<left_result<result_of<G>>>)
struct branch_of<G> {
  using type = branch_in_slot<G>;
};

/// What a cold path is given of a callable, and what it returns: few bytes in registers, so that the path that is not
/// cold needs no memory for them.
template <class F>
struct handed_over_as {
  using type = std::conditional_t<fits_into_slot<std::remove_cv_t<F>>, F, F&&>;
};
template <class F>
struct handed_over_as<F&> {  // perhaps to a function, which has no size
  using type = F&;
};
template <class F>
using handed_over = typename handed_over_as<F>::type;

template <class F, class G>
struct both_results {
  result_of<F> first;
  result_of<G> second;
};

template <class F, class G>
[[gnu::cold, gnu::noinline]] both_results<F, G> fork_join_otherwise(handed_over<F> f, handed_over<G> g, double share);

/// The two-way fork_join that all others are made of. Whoever knows that the thread is a worker says so, not to save
/// the test: each instantiation then has one caller, and gcc inlines it there, late enough that a recursion through it
/// is first split at its leaf test. (Forced inlining prevents that and makes fib a quarter slower.)
/// `share`: of f in the work of both, for a worker that searches.
template <bool KnownWorker, class F, class G>
inline std::tuple<result_of<F>, result_of<G>> fork_join_pair(F&& f, G&& g, double share) {
  worker_core* const w = self;
  using branch = typename branch_of<G>::type;
  branch offered(g);
  slot* const s = w->head.load();
  if (w->must_attend(s)) [[unlikely]] {
    // No worker, or one that searches; or the stack is full.
    if (w->diverts || s == w->end) {
      auto both = detail::fork_join_otherwise<F, G>(std::forward<F>(f), offered.callable(), share);
      return {std::forward<result_of<F>>(both.first), std::forward<result_of<G>>(both.second)};
    }
    offered.put_into(*s);
    push_attending(*w, *s);
  } else {
    offered.put_into(*s);
    platform::signal_fence();  // an interrupt that sees the task sees all of it
    w->head.store(s + 1);
  }

  result_of<F> first = [&]() -> result_of<F> {
    try {
      return detail::call(std::forward<F>(f));
    } catch (...) {
      branch::drop(*w, *s);
      throw;
    }
  }();

  if constexpr (checks) assert(w->guard.load() > s || only_joined_above(*w, s));  // none would be lost
  w->head.store(s);
  // A handler that runs on this thread offers only below head; after this fence it can no longer offer `s`
  // (docs/protocols/interrupt.md, "Join").
  platform::signal_fence();
  if (platform::is_above(w->guard, s)) [[unlikely]]
    return {std::forward<result_of<F>>(first), branch::join(*w, *s)};
  if (w->must_attend(s)) [[unlikely]]
    attend(*w);  // which leaves free slots as they are
  result_of<G> second = detail::call(offered.take_back(*s));
  // So that the call is not the last thing: of a recursion gcc would make a loop around the first call, which keeps more
  // in registers that calls have to save, and takes a quarter longer.
  platform::signal_fence();
  return {std::forward<result_of<F>>(first), std::forward<result_of<G>>(second)};
}

/// f is given to another worker, and g is run here.
template <class F, class G>
both_results<F, G> fork_join_given(worker_core& w, division& parts, slot& s, G&& g) {
  using branch = typename branch_of<F>::type;
  const auto first = [&]() -> result_of<F> {
    parts.enter_nothing();
    const join_result how = join_given(w, s);
    leave_given(w, s);
    return branch::finish(how, s);
  };
  const auto second = [&]() -> result_of<G> {
    try {
      return detail::call(std::forward<G>(g));
    } catch (...) {
      static_cast<void>(first());  // it comes first: what it throws is thrown
      throw;
    }
  };
  result_of<G> later = second();
  return {first(), std::forward<result_of<G>>(later)};
}

/// On a worker that searches: what f does is divided by the range's left end, g by what is left of it. In a repeated part
/// f is run here, and g may be given to another worker.
template <class F, class G>
both_results<F, G> fork_join_divided(worker_core& w, F&& f, G&& g, double share) {
  slot& s = *w.head.load();
  division parts(w, &s);
  const bool has_room = &s != w.end;
  const bool is_elsewhere = parts.cut_off(share);
  if (is_elsewhere && has_room) {
    typename branch_of<F>::type given(f);
    given.put_into(s);
    platform::signal_fence();
    w.head.store(&s + 1);
    if (parts.give(s)) {
      parts.enter_rest();
      return detail::fork_join_given<F, G>(w, parts, s, std::forward<G>(g));
    }
    w.head.store(&s);
    parts.enter_nothing();
    result_of<F> first = detail::call(given.callable());
    parts.enter_rest();
    return {std::forward<result_of<F>>(first), detail::call(std::forward<G>(g))};
  }
  // f is run here, as g will be, which is offered meanwhile.
  using branch = typename branch_of<G>::type;
  branch offered(g);
  if (has_room) {
    offered.put_into(s);
    platform::signal_fence();
    w.head.store(&s + 1);
    parts.offer_rest(s);
  }
  if (is_elsewhere) {
    parts.enter_nothing();
  } else {
    parts.enter_child();
  }
  result_of<F> first = [&]() -> result_of<F> {
    try {
      return detail::call(std::forward<F>(f));
    } catch (...) {
      if (has_room) branch::drop(w, s);
      throw;
    }
  }();
  parts.enter_rest();
  if (!has_room) return {std::forward<result_of<F>>(first), detail::call(offered.callable())};
  w.head.store(&s);
  platform::signal_fence();
  if (is_left(s) || platform::is_above(w.guard, &s)) {
    return {std::forward<result_of<F>>(first), branch::join(w, s)};
  }
  return {std::forward<result_of<F>>(first), detail::call(offered.take_back(s))};
}

template <class F, class G>
both_results<F, G> fork_join_otherwise(handed_over<F> f, handed_over<G> g, double share) {
  if (self == &foreign_worker) {
    auto [first, second] = scheduler::default_scheduler().run(
        [&]() { return detail::fork_join_pair<true>(std::forward<F>(f), std::forward<G>(g), share); });
    return {std::forward<result_of<F>>(first), std::forward<result_of<G>>(second)};
  }
  if (self->diverts) return detail::fork_join_divided<F, G>(*self, std::forward<F>(f), std::forward<G>(g), share);
  if (self->must_attend(nullptr)) attend(*self);
  result_of<F> first = detail::call(std::forward<F>(f));
  return {std::forward<result_of<F>>(first), detail::call(std::forward<G>(g))};
}

}  // namespace detail

/// Runs f and g, perhaps in parallel, and returns both results as a tuple; a void result becomes `filch::unit`.
///
/// The calling thread runs f at once. Meanwhile an idle worker may run g; otherwise the caller runs it after f. (Policy
/// `adws` divides them instead, and may give f to another worker and run g here.) The function returns on the thread
/// that called it. While it waits for a g that somebody else runs, the caller runs
/// nothing but parts of that g (unless the scheduler's join is `random`), so a mutex may be held across the call.
///
/// @throws what f or g throws. If both throw, f's exception. A g that has not begun when f throws is not run; one that
///         runs is waited for.
/// @par Complexity no allocation, no atomic read-modify-write and no fence unless somebody asks for work.
/// @par Thread safety any thread; a thread outside of every scheduler runs it in `scheduler::default_scheduler()`.
template <class F, class G>
inline auto fork_join(F&& f, G&& g) {
  return detail::fork_join_pair<false>(std::forward<F>(f), std::forward<G>(g), 0.5);
}

/// How much work each branch of a fork_join has, in any unit: a hint, which policy `adws` divides the workers by.
struct work {
  double first = 1;
  double second = 1;
};

/// The same with hints.
/// @throws std::invalid_argument in addition, in builds that check contracts: a hint is negative or no number.
template <class F, class G>
inline auto fork_join(work hints, F&& f, G&& g) {
  const double both = hints.first + hints.second;
  const double share = detail::share_of(*detail::self, hints.first, both, both);
  return detail::fork_join_pair<false>(std::forward<F>(f), std::forward<G>(g), share);
}

/// Three or more: fork_join(f, g, h) is fork_join(f, { g and h }) with the results in one tuple. Of several exceptions
/// the one of the leftmost callable is thrown.
template <class F, class G, class H, class... More>
inline auto fork_join(F&& f, G&& g, H&& h, More&&... more) {
  constexpr double share = 1.0 / (3 + sizeof...(More));
  auto [first, rest] = detail::fork_join_pair<false>(
      std::forward<F>(f),
      [&]() { return filch::fork_join(std::forward<G>(g), std::forward<H>(h), std::forward<More>(more)...); }, share);
  return std::tuple_cat(std::tuple<detail::result_of<F>>(std::forward<detail::result_of<F>>(first)), std::move(rest));
}

}  // namespace filch
