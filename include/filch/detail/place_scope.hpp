// What the constructs of filch/places.hpp are made of: whose finish a task belongs to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <filch/config.hpp>
#include <filch/detail/place_task.hpp>
#include <filch/future.hpp>
#include <filch/platform/memory.hpp>
#include <filch/task_group.hpp>

namespace filch::detail::places {

class place;

/// A finish. Tasks of a finish_spmd are counted as made and ended, for the wave that ends it; those of others by their
/// group alone.
struct scope {
  task_group* tasks;
  place* counts;                              ///< null: of a finish
  platform::atomic<std::uint64_t> search{0};  ///< the number of its looks for what is to be run; 0: it has none yet
};

/// The calling task's. @throws std::logic_error when it has none.
[[nodiscard]] FILCH_API scope& current_scope();

/// The calling task belongs to that scope for the time of this object's life.
class FILCH_API inside {
 public:
  explicit inside(scope& of) noexcept;
  ~inside();
  inside(const inside&) = delete;
  inside& operator=(const inside&) = delete;

 private:
  bool begun_;
};

/// One task more of a finish_spmd, and one less.
FILCH_API void count_made(place& at) noexcept;
FILCH_API void count_ended(place& at) noexcept;
/// The exception in flight is the finish_spmd's.
FILCH_API void record_error(place& at) noexcept;

/// A task of a finish.
template <class F>
struct scoped {
  scope* of;
  F f;
  void operator()() && {
    const inside here(*of);
    std::move(f)();
  }
};

/// A task of a finish_spmd, counted already.
template <class F>
struct counted {
  scope* of;
  F f;
  void operator()() && {
    place& at = *of->counts;
    try {
      const inside here(*of);
      std::move(f)();
    } catch (...) {
      record_error(at);
    }
    count_ended(at);
  }
};

/// Calls add(task) with what is a task of that scope and calls f. If that throws, nothing was added.
template <class F, class Add>
decltype(auto) add_to(scope& of, F&& f, Add add) {
  using body = std::decay_t<F>;
  if (of.counts == nullptr) return add(scoped<body>{&of, std::forward<F>(f)});
  // First: the task may have ended before this function does.
  count_made(*of.counts);
  try {
    return add(counted<body>{&of, std::forward<F>(f)});
  } catch (...) {
    count_ended(*of.counts);
    throw;
  }
}

/// The finish of a block: on the C++ stack of the task that it belongs to.
class FILCH_API finish_frame {
 public:
  finish_frame();
  /// Once. Calls f, and waits for the tasks made in it, whether or not it throws: a group that ends by an exception would leave
  /// out those that have not begun, and others may wait for what they were to do.
  template <class F>
  void run(F&& f) {
    try {
      std::forward<F>(f)();
    } catch (...) {
      wait_for_all();
      throw;
    }
    tasks_.wait();
  }

 private:
  void wait_for_all() noexcept;

  task_group tasks_;
  scope scope_;
  inside here_;
};

class await_node;

/// A task that begins when so many futures are ready. Has the memory for that before there is a task.
class FILCH_API awaiting {
 public:
  explicit awaiting(std::size_t futures);
  ~awaiting();
  awaiting(const awaiting&) = delete;
  awaiting& operator=(const awaiting&) = delete;
  /// Once. `held`: the task, see held_tasks.
  void await(detached_task& held, std::span<future_base* const> all) noexcept;

 private:
  std::unique_ptr<await_node> node_;
};

/// What makes the future ready, directly or not, and nobody has begun when it may run, is run by who waits for that finish: it may run
/// nothing else that is not of the finish, and where all workers wait in one, nobody is left. @throws std::bad_alloc.
FILCH_API void help_makers(scope& of, future_user<future_base> f);

/// A record of the calling worker for a closure that may run elsewhere, inside of a finish_spmd.
/// @throws std::logic_error outside of one; std::bad_alloc.
[[nodiscard]] FILCH_API task_record& new_record(const char* construct, std::size_t room);
FILCH_API void push_any(task_record& r);
FILCH_API void send_body(int to, task_record& r);

/// A record with that closure in it.
template <class F>
task_record& make_record(const char* construct, F&& f) {
  using body = std::decay_t<F>;
  static_cast<void>(unsendable<body>{});
  task_record& r = places::new_record(construct, room_of<body>);
  try {
    closure_kind<body>::store(r, std::forward<F>(f));
  } catch (...) {
    release(r);
    throw;
  }
  r.type.store(&type_of<body>);
  return r;
}

}  // namespace filch::detail::places
