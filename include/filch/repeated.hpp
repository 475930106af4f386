// repeated: a part of a program that does the same again and again, as the steps of a simulation do.
//
// Policy `constrained` (constrained work stealing: Lifflander, Krishnamoorthy and Kale 2014) remembers which worker ran
// which task of such a part, and puts the tasks of the next iterations where their data is: docs/protocols/constrained.md.
#pragma once

#include <memory>
#include <utility>

#include <filch/config.hpp>
#include <filch/detail/on_worker.hpp>
#include <filch/detail/worker_core.hpp>
#include <filch/scheduler.hpp>

namespace filch {
namespace detail {

/// One iteration, on the worker of its caller.
class FILCH_API iteration {
 public:
  /// `frame`: an address above all that the iteration has on the C++ stack, and below all that was there before.
  iteration(task_trace& trace, const void* frame);
  /// An iteration that ends with an exception counts for nothing.
  ~iteration();
  iteration(const iteration&) = delete;
  iteration& operator=(const iteration&) = delete;

 private:
  task_trace* trace_;  ///< null: the trace is in use elsewhere
  unsigned int unwinding_;
};

/// Not inlined: groups that the caller has on its C++ stack are told from those of the iteration by their addresses.
template <class F>
[[gnu::noinline]] decltype(auto) run_iteration(task_trace& trace, F&& f) {
  const iteration here(trace, __builtin_frame_address(0));
  return std::forward<F>(f)();
}

}  // namespace detail

/// A part of a program whose tasks are the same in each iteration.
///
/// With policy `constrained` the first iteration is scheduled as with policy `lace`, and the stolen tasks are noted: who
/// ran them. In the next, relaxed, iterations each of these tasks is given to the worker that ran it in the iteration
/// before; workers without a task steal others, which is noted as well. All further iterations are strict: tasks of
/// `fork_join` and `task_group` run where they ran in the last relaxed iteration, and none is stolen. Loops, bags and
/// adaptive tasks, what they fork, and detached tasks of groups are scheduled as with `lace` in all iterations.
///
/// An iteration may differ from those before: tasks that have no counterpart there run where their parents do. One that
/// is to be remembered anew needs forget().
///
/// In relaxed and strict iterations a worker that waits runs the tasks that it was given, whatever they are. So a task
/// that holds a lock across a construct may wait for ever if a task of the part wants that lock; likewise one that is
/// inside of another scheduler meanwhile, if that one waits for the part. A strict iteration waits for the workers of its
/// trace, whatever they are in.
///
/// @par Thread safety One iteration at a time is traced: where run() is called while another call of the same object is in
///      progress, it calls f and no more. The object lives until all calls have returned.
class FILCH_API repeated {
 public:
  /// So many iterations after the first are relaxed.
  /// @throws std::bad_alloc.
  explicit repeated(unsigned int relaxed_iterations = 5);
  ~repeated();
  repeated(const repeated&) = delete;
  repeated& operator=(const repeated&) = delete;

  /// Calls f: one iteration. With other policies than `constrained`, with one worker, and inside of another repeated
  /// part, of which it is a part then, this is all. On another scheduler than before, or with another number of
  /// workers, the trace begins anew.
  /// A task of the part that waits for a promise which another task of it keeps may wait for ever: both may have been given
  /// to one worker.
  /// @return what f returns.
  /// @throws what f throws; then the iteration counts for nothing.
  /// @par Complexity with other policies one virtual call. With `constrained` each fork takes some 60 ns more, and the
  ///      end of each iteration that is not strict a time proportional to the number of stolen tasks.
  /// @par Thread safety see above; a thread outside of every scheduler runs f in `scheduler::default_scheduler()`.
  template <class F>
  decltype(auto) run(F&& f) {
    return detail::on_worker([&]() -> decltype(auto) {
      if (!is_traced()) return std::forward<F>(f)();
      return detail::run_iteration(*trace_, std::forward<F>(f));
    });
  }

  /// The next iteration is the first again. Waits for nothing: a call in progress ends as it has begun.
  void forget() noexcept;

 private:
  /// Is what the calling worker runs now to be traced?
  [[nodiscard]] static bool is_traced() noexcept;

  std::unique_ptr<detail::task_trace> trace_;
};

}  // namespace filch
