// Tasks at several places: one program, started once at each of them, whose tasks go where workers are idle.
//
// A place is a process with a scheduler of its own. What is here follows HabaneroUPC++ (Kumar, Zheng, Cave, Budimlic and
// Sarkar, PGAS 2014; Kumar, Murthy, Sarkar and Zheng 2016). mpirun, or srun, starts the processes; without it there is one
// place, where all of this works as well. run() is in the library filch::places, which is built where MPI is; the rest is
// in filch::filch.
//
//     int main(int argc, char** argv) {
//       return filch::places::run(argc, argv, [](int, char**) {
//         filch::places::finish_spmd([] {
//           if (filch::places::here() == 0) filch::places::async_any([] { ... });
//         });
//       });
//     }
//
// Who waits for what. `finish` waits for the tasks of async, forasync, async_await and async_phased that were made in it,
// and by those in turn. `finish_spmd`, which all places enter together, waits for everything at all places; it alone
// waits for async_any, async_at and async_copy, so that no worker ever waits for another place. A task belongs to the
// innermost finish around the call that made it; branches and iterations to that of the task that forked them; what is
// run by async_any or async_at is inside a finish of its own. What other tasks add to a task_group, as those of pipelines
// and task graphs do, belongs to the finish in which the group was made, and which it does not outlive; what they add to
// one that is not on the C++ stack of a task belongs to the finish_spmd, if one is open. What is submitted, and
// continuations (future::then), belong to no finish: they may run when it is over, so they cannot add to one; async_await
// makes a task of the finish instead.
//
// Thread safety: call these functions from main's thread and from tasks.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <filch/config.hpp>
#include <filch/detail/place_scope.hpp>
#include <filch/future.hpp>
#include <filch/parallel_for.hpp>
#include <filch/phaser.hpp>
#include <filch/places_options.hpp>

namespace filch::places {

/// What every place throws at the end of a finish_spmd or all_reduce in which a place had an exception: that of the lowest.
class FILCH_API place_failed : public std::runtime_error {
 public:
  place_failed(int place, const std::string& what)
      : std::runtime_error("filch: place " + std::to_string(place) + ": " + what), place_(place) {}
  [[nodiscard]] int place() const noexcept { return place_; }

 private:
  int place_;
};

/// This place's number, from 0. @throws std::logic_error outside of run(), as all that follow.
[[nodiscard]] FILCH_API int here();
/// How many places there are.
[[nodiscard]] FILCH_API int count();
/// Computation workers of this place.
[[nodiscard]] FILCH_API int workers();
/// A pointer that each place has one of, null at first: for what is at another address at each place. In a process of its
/// own a variable would do; on the virtual machine all places are one process. main sets it while no task runs.
[[nodiscard]] FILCH_API void*& own_pointer();
/// What this place has counted since the program began. A hint while tasks run.
[[nodiscard]] FILCH_API counts counted();

/// Runs f, and waits for the tasks made in it, also when f throws; but for those that a task of a task_group on the heap makes: such a
/// group may outlive the finish, and its tasks are in none, or in the finish_spmd.
/// @throws what f throws; else, of the exceptions of its tasks, that of the first that f itself made, or one of those that
/// tasks made.
template <class F>
void finish(F&& f) {
  detail::places::finish_frame().run(std::forward<F>(f));
}

namespace detail_spmd {
FILCH_API void begin();
FILCH_API void end();
FILCH_API detail::places::scope& scope();
FILCH_API void failed() noexcept;
}  // namespace detail_spmd

/// Every place calls this, from main, in the same order, with what is to be done there; it returns, everywhere, when f and
/// everything that was made in it has ended everywhere. May be called again, and not from inside of itself.
/// @throws place_failed at all places, if one of them had an exception; std::logic_error when it is called by a task, or
/// another place does something else, such as end its main function.
template <class F>
void finish_spmd(F&& f) {
  detail_spmd::begin();
  try {
    const detail::places::inside here(detail_spmd::scope());
    std::forward<F>(f)();
  } catch (...) {
    detail_spmd::failed();
  }
  detail_spmd::end();
}

/// Makes a task of this place. f is copied or moved, and called once.
/// @throws std::logic_error when the caller is in no finish; what copying f throws; std::bad_alloc.
template <class F>
void async(F&& f) {
  detail::places::scope& of = detail::places::current_scope();
  detail::places::add_to(of, std::forward<F>(f),
                         [&](auto&& task) { of.tasks->run(std::forward<decltype(task)>(task)); });
}

/// Makes a task that calls f with each index of [first, last), or each item of a range of iterators, in parallel, as
/// parallel_for does, which also says what bounds there are.
/// @throws as async.
template <class First, class Last, class F>
  requires detail::loop_bounds<First, Last>
void forasync(First first, Last last, F&& f) {
  places::async([first, last, f = std::decay_t<F>(std::forward<F>(f))] { filch::parallel_for(first, last, f); });
}

/// Makes a task of this place that begins when all of these futures are ready, with a value or an error.
/// Futures that another place makes ready are for finish_spmd: a finish that waits for them holds a worker, and where all workers are
/// held, what would make them ready may never run. What was submitted, and
/// its continuations, is run by an idle worker, or by who waits for the finish. Who keeps a promise is not known: in a finish let
/// one of its tasks do that, not one that was submitted.
/// @throws as async; std::logic_error when a future is not valid().
template <class F, class... Ts>
void async_await(F&& f, const future<Ts>&... futures) {
  detail::places::scope& of = detail::places::current_scope();
  // Kept by the task: whoever made them may have forgotten them.
  auto body = [f = std::decay_t<F>(std::forward<F>(f)), kept = std::make_tuple(futures...)]() mutable {
    std::move(f)();
  };
  const std::array<detail::future_base*, sizeof...(Ts)> all{&*detail::future_access::state(futures)...};
  detail::places::awaiting ready(all.size());
  (detail::places::help_makers(of, detail::future_access::state(futures)), ...);
  detail::places::add_to(of, std::move(body), [&](auto&& task) {
    ready.await(detail::held_tasks::hold(*of.tasks, std::forward<decltype(task)>(task)), all);
  });
}

/// Makes a task of this place that takes part in the phases of a phaser: in each, f is called with the phase's number,
/// from 0, when all others that signal have ended the one before; until it returns false, or throws.
/// @throws as async.
template <class F>
void async_phased(phaser& of_phases, F&& f, phaser_mode mode = phaser_mode::signal_wait) {
  detail::places::scope& of = detail::places::current_scope();
  of_phases.add(std::function<bool(std::size_t)>(std::forward<F>(f)), mode,
                [&of](std::function<void()> task) -> detail::detached_task& {
                  return detail::places::add_to(of, std::move(task), [&](auto&& added) -> detail::detached_task& {
                    return detail::held_tasks::hold(*of.tasks, std::forward<decltype(added)>(added));
                  });
                });
}

/// Makes a task that may run at any place. f is trivially copyable and at most 480 bytes, or has a closure_codec
/// (<filch/places_cereal.hpp>); what it refers to must be there at every place.
/// @throws std::logic_error outside of finish_spmd; what copying f throws; std::bad_alloc.
template <class F>
void async_any(F&& f) {
  detail::places::push_any(detail::places::make_record("async_any", std::forward<F>(f)));
}

/// Makes a task that runs at that place. f as in async_any.
/// @throws in addition std::out_of_range for a place that there is not.
template <class F>
void async_at(int place, F&& f) {
  detail::places::send_body(place, detail::places::make_record("async_at", std::forward<F>(f)));
}

/// An address at some place.
template <class T>
struct global_ptr {
  int place = 0;
  T* address = nullptr;
};
template <class T>
[[nodiscard]] global_ptr<T> make_global(T* address) {
  return {here(), address};
}

namespace detail_copy {
[[nodiscard]] FILCH_API future<> copy(global_ptr<std::byte> to, global_ptr<const std::byte> from, std::size_t bytes);
}  // namespace detail_copy

/// Copies values from one place to another, either of which may be this one. The values must not change, nor those that
/// are written be looked at, before the future is ready; a source at this place may change at once.
/// @throws std::logic_error outside of finish_spmd; std::out_of_range for a place that there is not; std::length_error for more
///         values than a message, or memory, may have; std::bad_alloc.
template <class T, class U>
  requires std::is_trivially_copyable_v<T> && std::is_same_v<std::remove_const_t<U>, T>
future<> async_copy(global_ptr<T> to, global_ptr<U> from, std::size_t values) {
  if (values > std::numeric_limits<std::size_t>::max() / sizeof(T)) {
    throw std::length_error("filch: async_copy of '" + std::to_string(values) +
                            "' values, which no memory has; values, not bytes, are counted, from 0");
  }
  return detail_copy::copy({to.place, reinterpret_cast<std::byte*>(to.address)},
                           {from.place, reinterpret_cast<const std::byte*>(from.address)}, values * sizeof(T));
}

namespace detail_reduce {
FILCH_API void reduce(std::vector<std::byte>& value,
                      const std::function<void(std::span<std::byte>, std::span<const std::byte>)>& add);
}  // namespace detail_reduce

/// Every place calls this, from main, outside of finish_spmd, in the same order: all values combined, in an order that
/// depends on the number of places only. `combine` is called by one thread of this place at a time, which may be none of
/// its workers: it makes no tasks. O(log places) messages one after the other.
/// @throws std::logic_error when it is called elsewhere, or another place does something else; place_failed at all places,
/// if `combine` has thrown at one of them, or their values differ in size.
template <class T, class Combine>
  requires std::is_trivially_copyable_v<T> && std::move_constructible<T>
[[nodiscard]] T all_reduce(const T& value, Combine combine) {
  std::vector<std::byte> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  // On the heap: they may be large, and the bytes lie anywhere. Not made: a copy of its bytes is a T.
  const auto end = [](T* t) { std::allocator<T>().deallocate(t, 1); };
  const auto of = [end](std::span<const std::byte> from) {
    std::unique_ptr<T, decltype(end)> t(std::allocator<T>().allocate(1), end);
    std::memcpy(static_cast<void*>(t.get()), from.data(), sizeof(T));
    return t;
  };
  detail_reduce::reduce(bytes, [&](std::span<std::byte> first, std::span<const std::byte> second) {
    const T both = combine(static_cast<T&&>(*of(first)), static_cast<T&&>(*of(second)));
    std::memcpy(first.data(), &both, sizeof(T));
  });
  return static_cast<T&&>(*of(bytes));
}

/// Runs main at this place, in each of the processes that a launcher has started; without a launcher, there is one place,
/// and MPI is not used. May be called again when it has returned. The program may begin MPI itself, before, with
/// MPI_THREAD_SERIALIZED at least, and then ends it itself; a run that begins MPI ends it, and is the only one. Inside of run, any
/// thread of filch may call MPI at any time; main and its tasks may as well only if the program has begun MPI, with
/// MPI_THREAD_MULTIPLE.
/// Ends the job, with one line that names the place, when main throws at one of several places, or when that calls exit;
/// ends it with status 2 when places do not fit together: another MPI's launcher, other builds of the program.
/// @return what main returns, when it has returned at all places.
/// @throws std::logic_error when MPI has ended, or, with a launcher, inside of another run; without a launcher also
/// std::invalid_argument for bad options, and what main throws: with one, these end the job.
FILCH_API int run(int argc, char** argv, const options& chosen, const std::function<int(int, char**)>& main);

template <class Main>
int run(int argc, char** argv, const options& chosen, Main&& main)
  requires(!std::is_same_v<std::decay_t<Main>, std::function<int(int, char**)>>)
{
  const std::function<int(int, char**)> called = [&](int count_of, char** values) {
    if constexpr (std::is_void_v<std::invoke_result_t<Main&, int, char**>>) {
      main(count_of, values);
      return 0;
    } else {
      return static_cast<int>(main(count_of, values));
    }
  };
  return run(argc, argv, chosen, called);
}
template <class Main>
int run(int argc, char** argv, Main&& main) {
  return places::run(argc, argv, options{}, std::forward<Main>(main));
}

/// Runs main at the only place of this process, whoever has started it. Needs neither MPI nor the library filch::places.
/// @return what main returns.
/// @throws std::invalid_argument for bad options; what main throws.
FILCH_API int run_alone(const options& chosen, const std::function<int()>& main);

}  // namespace filch::places
