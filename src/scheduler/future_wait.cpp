// The wait for a future.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>

#include <filch/blocking.hpp>
#include <filch/future.hpp>

#include "platform/backoff.hpp"
#include "platform/clock.hpp"
#include "platform/parker.hpp"
#include "scheduler/background.hpp"
#include "scheduler/scheduler_core.hpp"
#include "worker/interrupter.hpp"
#include "worker/patience.hpp"
#include "worker/team.hpp"
#include "worker/wait.hpp"

namespace filch::detail {
namespace {

/// When a wait ends that may end before the future is ready, in nanoseconds of now_ns(). A future cannot forget who is to be told,
/// so such a wait is told nothing: it looks from time to time.
constexpr std::int64_t forever = std::numeric_limits<std::int64_t>::max();

bool is_past(std::int64_t deadline_ns) noexcept { return deadline_ns != forever && platform::now_ns() >= deadline_ns; }

/// The next look of a wait that began then: naps grow with it, so that long waits cost little, and find out a sixteenth late.
std::int64_t next_look(std::int64_t since_ns, std::int64_t deadline_ns) noexcept {
  constexpr std::int64_t least_nap_ns = 50'000;
  constexpr std::int64_t most_nap_ns = 10'000'000;
  const std::int64_t now = platform::now_ns();
  return std::min(deadline_ns, now + std::clamp((now - since_ns) / 16, least_nap_ns, most_nap_ns));
}

/// Somebody who sleeps until the future is ready. It lies on the waiter's stack, so who has seen that the future is ready
/// goes on only when whoever made it so has done with this.
class sleeper : public future_waiter {
 public:
  explicit sleeper(platform::parker& of) noexcept : parker_(of) {
    tell = [](future_waiter& w) noexcept {
      auto& own = static_cast<sleeper&>(w);
      own.parker_.unpark();
      // [FU5] release: the last touch, before the waiter's stack is used for something else. No exploration catches this:
      // nobody looks at an object that is gone.
      own.told_.store(true, std::memory_order_release);
      return static_cast<future_waiter*>(nullptr);
    };
  }
  [[nodiscard]] bool is_told() const noexcept {
    return told_.load(std::memory_order_acquire);  // [FU5] acquire
  }
  void await_told() const noexcept {
    for (platform::backoff telling; !is_told();) telling.wait();
  }

 private:
  platform::parker& parker_;
  platform::atomic<bool> told_{false};
};

/// A worker of the task's scheduler: runs the task if nobody has begun it, else parts of it.
class future_wait : public waiting_worker {
 public:
  future_wait(worker& w, future_base& of, background_task& made_by, std::int64_t deadline_ns) noexcept
      : waiting_worker(w), of_(of), made_by_(made_by), deadline_ns_(deadline_ns), sleeper_(w.parker) {}
  ~future_wait() {
    w_.wait.await_no_group();
    if (is_added_) sleeper_.await_told();
  }
  future_wait(const future_wait&) = delete;
  future_wait& operator=(const future_wait&) = delete;

  [[nodiscard]] bool over() const noexcept { return of_.is_ready() || is_past(deadline_ns_); }

  bool help() noexcept {
    // However deeply it is nested: nobody else may be left who runs it.
    if (made_by_.claim()) {
      w_.occupied();
      claimed_task run_here(made_by_);
      w_.run_loose(run_here, made_by_.home);
      return true;
    }
    if (run_given()) return true;
    w_.counted.waiting.begin();
    w_.wait.await_group(made_by_.home);
    const lineage task = runner();
    return task.id != 0 && w_.common.policy.help(w_, task, nullptr);
  }

  bool interrupt() noexcept {
    const lineage task = runner();
    return task.id != 0 && w_.common.interrupter.interrupt_if_due(w_.common.team[task.thief]);
  }

  bool sleep() noexcept {
    if (deadline_ns_ == forever) {
      if (!is_added_) is_added_ = of_.add(sleeper_);
      if (!is_added_) return true;  // it is ready
    }
    w_.wait.await_group(made_by_.home);
    const lineage task = runner();
    doze_unless(
        [&] {
          if (of_.is_ready()) return true;
          if (task.id == 0) return false;
          w_.common.policy.await_help(w_, task);
          return w_.common.policy.help_visible(w_, task);
        },
        [&] {
          const std::int64_t due =
              task.id != 0 ? w_.common.interrupter.due(w_.common.team[task.thief]) : interrupter::never;
          return deadline_ns_ == forever ? due : std::min(due, next_look(since_ns_, deadline_ns_));
        },
        true);
    if (task.id != 0) w_.common.policy.collect_help(w_, task, nullptr);
    return true;
  }

 private:
  /// The body as a task of an activation of its own, whatever becomes of the task in its queue.
  struct claimed_task : task {
    explicit claimed_task(background_task& t) noexcept : of(t) {
      run.store([](task& own, run_by /*who*/) {
        tell_all(static_cast<claimed_task&>(own).of.run_claimed());
        return run_result::released;
      });
    }
    background_task& of;
  };

  [[nodiscard]] lineage runner() const noexcept {
    const auto [number, activation] = made_by_.runner();
    // Its own: it waits for what it is in the middle of, or that is over. And nobody shares constructs of a scheduler of one worker.
    if (number == w_.number || w_.common.workers == 1) return {};
    return {static_cast<std::uint16_t>(number), activation};
  }

  future_base& of_;
  background_task& made_by_;
  const std::int64_t deadline_ns_;
  const std::int64_t since_ns_ = deadline_ns_ == forever ? 0 : platform::now_ns();
  sleeper sleeper_;
  bool is_added_ = false;
};

/// A thread that helps nobody, and answers nobody: it is no worker, or is in a blocking region.
class idle_thread_wait {
 public:
  idle_thread_wait(future_base& of, std::int64_t deadline_ns) noexcept : of_(of), deadline_ns_(deadline_ns) {}
  ~idle_thread_wait() {
    if (is_added_) sleeper_.await_told();
  }
  idle_thread_wait(const idle_thread_wait&) = delete;
  idle_thread_wait& operator=(const idle_thread_wait&) = delete;

  [[nodiscard]] bool over() const noexcept { return of_.is_ready() || is_past(deadline_ns_); }
  static bool help() noexcept { return false; }
  static void answer() noexcept {}
  static bool interrupt() noexcept { return false; }
  bool sleep() noexcept {
    if (deadline_ns_ != forever) {
      if (since_ns_ == 0) since_ns_ = platform::now_ns();
      parker_.park_until(next_look(since_ns_, deadline_ns_));
      return false;
    }
    if (!is_added_) is_added_ = of_.add(sleeper_);
    if (is_added_) parker_.park();  // else it is ready
    return false;
  }

 private:
  future_base& of_;
  const std::int64_t deadline_ns_;
  std::int64_t since_ns_ = 0;  ///< when it first slept; 0: it has not
  platform::parker parker_;
  sleeper sleeper_{parker_};
  bool is_added_ = false;
};

void sleep_until_ready(future_base& f, std::int64_t deadline_ns, std::int64_t spin_ns = 0) noexcept {
  idle_thread_wait waiting(f, deadline_ns);
  wait_until_over(waiting, spin_ns);
}

/// Of a task that is queued, or was begun. False: no guest can be had, so others have to run it.
[[nodiscard]] bool wait_for_task(future_base& f, background_task& task, std::int64_t deadline_ns) {
  const auto wait_in = [&](scheduler_core& core) {
    core.run([&] {
      auto& w = static_cast<worker&>(*self);
      const busy_section here(w);
      future_wait waiting(w, f, task, deadline_ns);
      wait_until_over(waiting, w.common.spin_ns);
    });
  };
  // A task of that scheduler, which does not end before it: not even while it ends, when there may be nobody else who
  // runs what the task waits for.
  try {
    if (scheduler_core* const own = task.link().around_caller()) {
      wait_in(*own);
    } else if (!task.link().with(wait_in)) {  // until it has left: whoever else has the value may end the scheduler
      sleep_until_ready(f, deadline_ns);      // it ends, and runs what it has
    }
  } catch (const std::exception&) {
    return false;
  }
  return true;
}

/// Continuations that wait for each other, of which one search looks at so many; and futures of futures, nested so deep.
constexpr unsigned most_sources = 16;

/// The futures of several that a search has come to. Each once, however many paths lead there, and not too many: whoever
/// waits has tasks to offer, too.
class search {
 public:
  explicit search(std::int64_t deadline) noexcept : deadline_ns(deadline) {}
  /// False: it was there, or has seen enough.
  [[nodiscard]] bool enter(const future_base& of) noexcept {
    const auto end = seen_.begin() + count_;
    if (count_ == seen_.size() || std::find(seen_.begin(), end, &of) != end) return false;
    seen_[count_++] = &of;
    return true;
  }

  const std::int64_t deadline_ns;  ///< of waits for what others have begun meanwhile

 private:
  std::array<const future_base*, 64> seen_;
  std::size_t count_ = 0;
};

bool run_parts(future_base& of, search& by, unsigned depth);

/// Runs the task that makes the future ready, if nobody has begun it. False: it may not run, or somebody has.
bool run_queued(future_base& f, background_task& task, std::int64_t deadline_ns) {
  return task.is_queued() && wait_for_task(f, task, deadline_ns);
}

/// Runs what the continuation waits for, directly or not, if that may run and nobody has begun it. False: it may not, or
/// somebody has.
bool run_source(background_task& of, search& by, unsigned depth) {
  future_user<future_base> source;
  background_task* task = &of;
  for (unsigned i = 0; i < most_sources && task->is_held(); ++i) {
    // The one before lasts until then: its task has given this one.
    source = task->source();
    if (source == nullptr) return false;
    task = source->maker();
    if (task == nullptr) return run_parts(*source, by, depth + 1);
  }
  return source != nullptr && run_queued(*source, *task, by.deadline_ns);
}

/// The same of a future that waits for several.
bool run_parts(future_base& of, search& by, unsigned depth) {
  if (of.parts() == nullptr || depth == most_sources || !by.enter(of)) return false;
  return of.parts()->visit([&by, depth](future_base& part) {
    if (part.is_ready()) return false;
    background_task* const task = part.maker();
    if (task == nullptr) return run_parts(part, by, depth + 1);
    return task->is_held() ? run_source(*task, by, depth) : run_queued(part, *task, by.deadline_ns);
  });
}

[[nodiscard]] std::int64_t spin_ns_of(const background_task& task) {
  std::int64_t ns = 0;
  const auto ask = [&](scheduler_core& core) { ns = core.chosen().spin_ns; };
  if (scheduler_core* const own = task.link().around_caller()) {
    ask(*own);
  } else {
    task.link().with(ask);
  }
  return ns;
}

/// Until the continuation may run. Runs what it waits for meanwhile, if nobody has begun that. It gives up instead of
/// sleeping: the wait for the continuation itself comes next, and sleeps.
class release_wait {
 public:
  release_wait(future_base& f, background_task& task, std::int64_t deadline_ns) noexcept
      : f_(f), task_(task), deadline_ns_(deadline_ns) {}

  [[nodiscard]] bool over() const noexcept {
    return has_given_up_ || !task_.is_held() || f_.is_ready() || is_past(deadline_ns_);
  }
  bool help() noexcept {  // what a task may throw is its future's, and what a guest may is caught (wait_for_task)
    search from_here(deadline_ns_);
    return run_source(task_, from_here, 0);
  }
  void answer() noexcept {
    if (w_ == nullptr) return;
    const busy_section here(*w_);
    waiting_worker(*w_).answer();
  }
  static bool interrupt() noexcept { return false; }
  bool sleep() noexcept {
    has_given_up_ = true;
    return false;
  }

 private:
  worker* const w_ = worker::of_this_thread();
  future_base& f_;
  background_task& task_;
  const std::int64_t deadline_ns_;
  bool has_given_up_ = false;
};

void await_release(future_base& f, background_task& task, std::int64_t deadline_ns) {
  release_wait waiting(f, task, deadline_ns);
  wait_until_over(waiting, spin_ns_of(task));
}

void wait_within(future_base& f, unsigned depth, std::int64_t deadline_ns);

/// First what nobody has begun, then what others are in the middle of.
void wait_for_parts(future_base& f, unsigned depth, std::int64_t deadline_ns) {
  if (f.parts() == nullptr || depth == most_sources) return;
  search from_here(deadline_ns);
  run_parts(f, from_here, depth);
  f.parts()->visit([depth, deadline_ns](future_base& part) {
    wait_within(part, depth + 1, deadline_ns);
    return false;
  });
}

void wait_within(future_base& f, unsigned depth, std::int64_t deadline_ns) {
  const auto over = [&] { return f.is_ready() || is_past(deadline_ns); };
  if (over()) return;
  background_task* const task = f.maker();
  const worker* const w = worker::of_this_thread();
  const bool in_place = w != nullptr && w->common.is_place;
  if (task != nullptr && task->is_held() && !in_place) await_release(f, *task, deadline_ns);
  if (over()) return;
  if (task != nullptr && !task->is_held() && wait_for_task(f, *task, deadline_ns)) return;
  if (in_place) {
    throw std::logic_error(
        "filch: wait for a future that is not ready, in a task of a place; make a task that begins when it is, by "
        "async_await");
  }
  wait_for_parts(f, depth, deadline_ns);
  // Nobody knows who makes it ready, so there is nothing to help with. A worker leaves its place to another thread at once.
  if (w == nullptr) return sleep_until_ready(f, deadline_ns, patience::spin_ns);
  if (over()) return;
  const blocking here;
  sleep_until_ready(f, deadline_ns);
}

}  // namespace

void reject_missing_state() {
  throw std::logic_error(
      "filch: a future or promise without a state is used: it was moved from, or never got one; assign one, or ask "
      "valid()");
}

void wait_until_ready(future_base& f) { wait_within(f, 0, forever); }

bool wait_until_ready_for(future_base& f, std::int64_t longest_ns) {
  if (f.is_ready() || longest_ns <= 0) return f.is_ready();
  const std::int64_t now = platform::now_ns();
  const std::int64_t deadline_ns = now + std::min(longest_ns, forever - 1 - now);
  if (worker::of_this_thread() != nullptr) {
    wait_within(f, 0, deadline_ns);
  } else {
    // It runs nothing, which could take longer.
    sleep_until_ready(f, deadline_ns, patience::spin_ns);
  }
  return f.is_ready();
}

void run_maker(future_base& f) {
  background_task& task = *f.maker();
  for (platform::backoff releasing; task.is_held();) releasing.wait();
  run_queued(f, task, forever);
}

}  // namespace filch::detail
