// adaptive: a task that does its work in steps, and is split when somebody asks for work.
//
// Follows section 5 of the private-deques paper (Acar, Charguéraud, Rainey 2013): many small tasks that are alike, such
// as the vertices of a graph that are still to be visited, are kept together in one task, which the scheduler runs a
// bounded number of units at a time, and which it cuts in two when another worker has nothing to do.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <type_traits>

#include <filch/detail/run_adaptive.hpp>
#include <filch/loop.hpp>

namespace filch {

/// A task that can be split.
///
/// `task.step(budget)` does at most `budget` units of its work, what a unit is being the task's business, and returns
/// whether any work is left. It may add to the work. On an empty task it does nothing and returns false.
///
/// `task.split()` takes about half of what is left off the task and returns that as a new one; or nothing, if there is
/// too little for two. It is called only after a step that has left something, by the thread that ran it. To give an
/// empty task does no harm.
///
/// A task may have `task.size()`, the units that are left. Builds that check contracts (FILCH_CHECKS) then see whether
/// each split keeps and gives what the task had: another sum ends the call with a std::logic_error.
///
/// The move constructor and the destructor must not throw. Tasks need not be copyable.
template <class Task>
concept adaptive_task = std::is_nothrow_move_constructible_v<Task> && std::is_nothrow_destructible_v<Task> &&
                        requires(Task& task, std::size_t budget) {
                          { task.step(budget) } -> std::convertible_to<bool>;
                          { task.split() } -> std::convertible_to<std::optional<Task>>;
                        };

/// How the end of a call is found.
enum class termination : std::uint8_t {
  join,    ///< a worker waits for what it has split off, and runs parts of that meanwhile
  counted  ///< workers wait for nothing; each counts what it made and what ended, and the caller, when idle, compares
};

/// How an adaptive task is run.
struct adaptive_options {
  /// Units of a step. 0: as many as take about a microsecond, found by the clock and remembered by each worker for each
  /// type of task. What is asked for in the middle of a step waits until its end; each step costs some nanoseconds.
  std::size_t budget = 0;
  /// `counted` is how the paper does it. Then a worker whose task is at its end is free at once for whatever there is,
  /// and a call costs one allocation more, of a cache line for each worker.
  termination end = termination::join;
};

/// Runs the task, and all that is split off it, until nothing is left.
///
///     struct summing {
///       const int* first;
///       const int* last;
///       std::atomic<long>* sum;
///       bool step(std::size_t budget) {
///         const int* const end = first + std::min<std::ptrdiff_t>(budget, last - first);
///         *sum += std::accumulate(std::exchange(first, end), end, 0L);
///         return first != last;
///       }
///       std::optional<summing> split() {
///         if (last - first < 2) return std::nullopt;
///         const int* const middle = first + (last - first) / 2;
///         return summing{middle, std::exchange(last, middle), sum};
///       }
///     };
///     filch::adaptive(summing{numbers, numbers + n, &sum});
///
/// Where owners are asked for work, a task is split when somebody asks. With policy `chase_lev`, whose owners nobody
/// can ask, it is split whenever nothing of it is on offer.
///
/// @param task  run where it is, by the calling worker; what is split off is moved, and destroyed when it is done.
///              Steps of different tasks run at the same time. Afterwards a task that was given by reference is empty;
///              after an exception or a stop it has what it had left.
/// @throws what step() or split() throws; of several, the first. The other tasks are then destroyed with what they have
///         left, and steps that are running awaited. std::bad_alloc if there is no memory for counts; then nothing ran.
/// @par Thread safety any thread. The task may be inside of another one, a loop, a bag or a task group, and steps may
///      contain those. A worker that waits for what was split off runs nothing but parts of the same call.
/// @par Complexity O(1) for each step beside the step itself, and one allocation for each split; no atomic
///      read-modify-write unless a task is split. No stack beyond that of a step.
template <class Task>
  requires adaptive_task<std::remove_reference_t<Task>>
void adaptive(Task&& task, adaptive_options how = {}) {
  detail::run_adaptive(task, how.budget, how.end == termination::counted);
}

/// The same, which ends early once a stop is requested: between two steps. `how` may be left out.
/// @return whether a stop was requested.
template <class Task>
  requires adaptive_task<std::remove_reference_t<Task>>
loop_status adaptive(Task&& task, adaptive_options how, const std::stop_token& stop) {
  return detail::run_adaptive(task, how.budget, how.end == termination::counted, &stop);
}
template <class Task, std::same_as<std::stop_token> Stop>
  requires adaptive_task<std::remove_reference_t<Task>>
loop_status adaptive(Task&& task, const Stop& stop) {
  return filch::adaptive(task, adaptive_options{}, stop);
}

}  // namespace filch
