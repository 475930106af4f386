// The scheduler: a team of workers and how they share work.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <filch/config.hpp>
#include <filch/detail/worker_core.hpp>
#include <filch/future.hpp>
#include <filch/statistics.hpp>

namespace filch {

/// How a scheduler is made. Every field has a default that needs no thought.
struct options {
  /// Workers, the calling thread included. 0: FILCH_WORKERS when that is set, else all that this process may use (its
  /// affinity mask and its cgroup's CPU quota). With more than that, no more than there are processors are awake, but for what waits
  /// for something else, or takes milliseconds; one thread more sees to that.
  int workers = 0;
  /// Name of the policy; see combinations(). Empty: FILCH_POLICY when that is set, else "standard".
  std::string policy = {};
  /// What to do while waiting; see combinations(). Empty: FILCH_JOIN when that is set, else the policy's default.
  std::string join = {};
  /// How loops are split that do not say; see combinations(). A way's name, or its type in filch::loop: "auto" or "automatic",
  /// "static" or "fixed". Empty: FILCH_LOOP when that is set, else the policy's default.
  std::string loop = {};
  /// Thieves get half of the tasks instead of one, with policy standard of some if they are short (policies lace, standard,
  /// receiver, receiver_blocking and sender). With it, standard leaves brief tasks to no owner (docs/standard.md).
  bool steal_half = false;
  /// Where work is wanted, half of all tasks that wait to be offered are, instead of one (the lazy policies;
  /// section 9.4 of the lazy-scheduling paper).
  bool push_half = false;
  /// Mean time between two attempts of a worker to deal away a task, in nanoseconds (policy sender). None:
  /// FILCH_DEAL_INTERVAL_NS when that is set, else 30,000.
  std::optional<std::int64_t> deal_interval_ns = {};
  /// Attempts to steal from the nearest workers, and then from those of each next level (same core, last-level cache,
  /// socket), before a worker looks farther (policy hierarchical, which needs a pinning). None: FILCH_LEVEL_ATTEMPTS when
  /// that is set, else 8. At most 1,000,000.
  std::optional<std::int64_t> level_attempts = {};
  /// How long a worker that has asked another one for work waits for an answer before it interrupts that one's thread,
  /// in nanoseconds; 0: for ever, and then filch sends and handles no signals. None: FILCH_INTERRUPT_AFTER_NS when that
  /// is set, else 0. At most 1 s. 100,000 is a good value where tasks are long, neither fork nor join nor run loops
  /// meanwhile, and call nothing that a signal disturbs. The interrupt is SIGURG, handled with SA_RESTART: blocking
  /// calls inside of tasks may return early with EINTR (signal(7) lists which: sleeping, polling, receiving with a
  /// time-out), and `write` and `recv(MSG_WAITALL)` may transfer less than was asked for. Only tasks that do not look
  /// for that time are interrupted, each at most once in a millisecond unless it has something to give. SIGURG from
  /// elsewhere goes to the handler that the program had installed before; one that is installed later has to pass on
  /// what is not its own. Not for policies that offer everything at once (chase_lev, the lazy ones).
  std::optional<std::int64_t> interrupt_after_ns = {};
  /// Policy sender: time from one interrupt to the next, in nanoseconds, by which a thread of its own makes workers
  /// deal while others wait, as in section 4 of the private-deques paper (200 us to 2 ms there). 0: no such thread.
  /// None: FILCH_INTERRUPT_EVERY_NS when that is set, else 0. At most 1 s.
  std::optional<std::int64_t> interrupt_every_ns = {};
  /// How long a worker that finds nothing to do spins before it sleeps, in nanoseconds: without a task, or inside of a
  /// wait. None: FILCH_SPIN_NS when that is set, else 50,000. At most 1 s. More costs processor time; it helps a program
  /// whose parallel parts are short, follow each other at such distances, and have the processors to themselves.
  std::optional<std::int64_t> spin_ns = {};
  /// Address space of each worker's task stack, in bytes: 64 per pending task. A full stack is no error; it only runs
  /// further tasks at once. 4 KiB to 64 MiB.
  std::size_t stack_bytes = std::size_t{64} << 20;
  /// Where workers run. Empty: FILCH_PINNING when that is set, else "none".
  ///  - "none": where the operating system puts them;
  ///  - "compact": each on a processor of its own; sockets are filled in order, so that neighbouring ranks share caches;
  ///  - "scatter": worker w of P is in socket floor(w S / P) of S, so that all sockets' caches and memory are used, and
  ///    neighbouring ranks are in one socket.
  /// In a socket the first hardware threads of all cores come first, then the second ones. Processors count that are in
  /// the affinity mask of the thread that makes the scheduler; if they are fewer than workers, several workers share one.
  /// A socket here is a memory node of a package. The thread that calls `run` is bound for that time, and then has its
  /// mask from before; guests are not bound. Threads that tasks start have the mask of the worker, one processor.
  std::string pinning = {};
  /// Called by each thread that the scheduler starts, before anything else, and when it is about to end: to set up what
  /// belongs to a thread. With the worker's index; -1: a thread that takes the place of blocked workers (filch::blocking).
  /// The thread is called "filch-3" in debuggers and top, "filch-spare" if it has no index. Must not throw.
  std::function<void(int index)> on_start = {};
  std::function<void(int index)> on_stop = {};
};

namespace detail {
class attachment;
class scheduler_core;
class worker;
struct place_hooks;
}  // namespace detail

/// A team of workers. `workers - 1` threads are started; the thread that calls `run` is the remaining one. Idle threads
/// sleep and cost nothing.
///
/// Thread safety: `run` may be called from any thread, from several at once, and from inside a task of this or of
/// another scheduler. Destroy it when no `run` is in progress.
///
/// After fork() it has no threads in the child process: it can be destroyed there, as static objects are at exit. To
/// run something there, make a new one.
class FILCH_API scheduler {
 public:
  /// Starts the team.
  /// @throws std::invalid_argument for a bad worker count or stack size, or an unknown or unsuitable policy, join,
  ///         loop or pinning (the message names the value and the remedy); std::system_error when the system has no threads left,
  ///         std::bad_alloc when it has no memory. If the number of workers is not said, fewer are tried first.
  explicit scheduler(const options& chosen = {});
  /// Of so many workers, the calling thread included; otherwise with default options.
  explicit scheduler(int workers);
  /// Runs what was submitted and has not begun, then stops and joins all threads. Not if a task of this scheduler calls it, as
  /// exit() in a task of a static one does: then it waits for nothing, and all lasts until the process ends.
  ~scheduler();
  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;

  /// Calls f on the calling thread, which for that time is a worker of this scheduler: what f forks is shared with the
  /// others. A second thread that calls `run` meanwhile takes part as a guest, at once. Returns what f returns.
  /// @throws what f throws; std::runtime_error when `most_guests` threads take part already; std::bad_alloc when there is no
  ///         memory for a new guest.
  template <class F>
  decltype(auto) run(F&& f);

  /// Hands f over to the workers and returns at once: a future of what f returns. f runs when a worker is idle, or when
  /// somebody waits for the future; its exception becomes the future's. Nobody has to wait: what is left is run when the
  /// scheduler ends. A scheduler of one worker starts a thread for that, which runs nothing
  /// else. Of a reference that f returns, the future has a copy.
  /// `submit(f, args...)` runs f(args...) with copies of the arguments, as std::async does: std::ref(x) for x itself.
  /// The newest task of a worker comes first, so one that submits itself again and again may keep older ones waiting.
  /// Under policy `serial`, and with it in a profile, f runs before `submit` returns. So there f must not wait for what the
  /// caller does afterwards, such as keep a promise: that wait would never end. And tasks that submit the next one, or
  /// continue by `then`, are as deep in each other on the C++ stack as their chain is long.
  /// @throws std::bad_alloc; what copying f throws; std::system_error when there is no thread and none can be started.
  /// @par Thread safety any thread, also from tasks.
  template <class F, class... Args>
    requires std::invocable<std::decay_t<F>, std::decay_t<Args>...>
  auto submit(F&& f, Args&&... args) -> future<detail::future_value<std::decay_t<F>, std::decay_t<Args>...>>;

  /// Counters of all workers. May be called at any time; exact when the scheduler is idle.
  [[nodiscard]] statistics stats() const;
  /// Makes the counters start at zero.
  void reset_stats();

  [[nodiscard]] int workers() const noexcept;  ///< as chosen, the calling thread included
  /// So many threads more may take part at the same time, as guests or in the place of blocked workers; others are refused.
  static constexpr int most_guests = 1024;
  /// The indices of this_worker() in tasks of this scheduler are below this.
  [[nodiscard]] int most_indices() const noexcept { return workers() + most_guests; }
  [[nodiscard]] std::string_view policy() const noexcept;   ///< name of the policy
  [[nodiscard]] std::string_view join() const noexcept;     ///< name of the join
  [[nodiscard]] std::string_view loop() const noexcept;     ///< name of the way loops are split
  [[nodiscard]] std::string_view pinning() const noexcept;  ///< name of the pinning
  // As in the options, with defaults filled in; 0 where the policy has no use for it.
  [[nodiscard]] std::int64_t deal_interval_ns() const noexcept;
  [[nodiscard]] std::int64_t level_attempts() const noexcept;
  [[nodiscard]] std::int64_t spin_ns() const noexcept;
  [[nodiscard]] std::int64_t interrupt_after_ns() const noexcept;
  [[nodiscard]] std::int64_t interrupt_every_ns() const noexcept;

  /// The process-wide scheduler with default options, started when it is first used. It lives as long as the process. In a
  /// child process after fork() it is another one. With fewer threads than wanted if the system refuses more.
  /// @throws as the constructor, for bad values in the environment.
  static scheduler& default_scheduler();

  /// For filch itself: the scheduler of a place (filch/places.hpp).
  scheduler(const options& chosen, const detail::place_hooks& place);
  /// For filch itself: the implementation.
  [[nodiscard]] detail::scheduler_core& core() const noexcept { return *core_; }

 private:
  detail::scheduler_core* core_ = nullptr;  ///< owned, unless a task of its own has called the destructor
};

/// Which worker a thread is.
struct FILCH_API worker_id {
  /// Its rank: from 0, the seat, to `workers() - 1`; guests have higher ones. -1: it is no worker.
  int index = -1;
  /// All indices of its scheduler are below this, at any time; 0: it is no worker.
  int count = 0;
  /// Whose tasks it runs; null: it is no worker.
  filch::scheduler* scheduler = nullptr;

  // NOLINTNEXTLINE(google-explicit-constructor): where a rank is wanted.
  operator int() const noexcept { return index; }
  /// Its scheduler; of no worker the default scheduler.
  /// @throws as scheduler::default_scheduler.
  [[nodiscard]] filch::scheduler& home_or_default() const;
};

/// The worker that the calling thread is at present. Of several schedulers around each other the innermost counts. Constant
/// for as long as a task runs. Any thread may ask; takes constant time.
[[nodiscard]] FILCH_API worker_id this_worker() noexcept;

namespace detail {

/// The index that the calling thread has in that scheduler, also from inside of another one; -1: none.
[[nodiscard]] FILCH_API int index_in(const scheduler_core& of) noexcept;

/// Makes the calling thread a worker of a scheduler for the time of its life.
class FILCH_API attachment {
 public:
  explicit attachment(scheduler& home);
  /// The worker is the calling thread's already. In the profile what the thread does is one root, or else each task is that it runs.
  attachment(worker& w, bool is_root);
  ~attachment();
  attachment(const attachment&) = delete;
  attachment& operator=(const attachment&) = delete;

 private:
  worker_core* worker_;
};

/// Not inlined, so that everything f has on the C++ stack lies below the attachment; task_group relies on that.
template <class F>
[[gnu::noinline]] decltype(auto) run_attached(F&& f) {
  return std::forward<F>(f)();
}

}  // namespace detail

template <class F, class... Args>
  requires std::invocable<std::decay_t<F>, std::decay_t<Args>...>
auto scheduler::submit(F&& f, Args&&... args) -> future<detail::future_value<std::decay_t<F>, std::decay_t<Args>...>> {
  if constexpr (sizeof...(Args) == 0) {
    using value = detail::future_value<std::decay_t<F>>;
    auto made = detail::make_future_state<detail::submitted_task<value, std::decay_t<F>>>(std::forward<F>(f));
    detail::submit_background(*this, *made, *made);
    return detail::future_access::made_of<value>(std::move(made));
  } else {
    return submit([call = std::decay_t<F>(std::forward<F>(f)),
                   with = std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...)]() mutable -> decltype(auto) {
      return std::apply(std::move(call), std::move(with));
    });
  }
}

/// Hands f over to the workers of the caller's scheduler, on a thread that is no worker to those of the default scheduler; see
/// scheduler::submit.
/// @throws as scheduler::submit, and as scheduler::default_scheduler.
template <class F, class... Args>
  requires std::invocable<std::decay_t<F>, std::decay_t<Args>...>
auto submit(F&& f, Args&&... args) {
  return this_worker().home_or_default().submit(std::forward<F>(f), std::forward<Args>(args)...);
}

template <class F>
decltype(auto) scheduler::run(F&& f) {
  if (detail::self->home == core_) return std::forward<F>(f)();
  const detail::attachment here(*this);
  return detail::run_attached(std::forward<F>(f));
}

}  // namespace filch
