// The waits for the detached tasks of a group: what a waiter runs meanwhile, and when it sleeps (docs/protocols/injector.md).
// The queues themselves are in injector.cpp.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "platform/clock.hpp"
#include "platform/parker.hpp"
#include "scheduler/injector.hpp"
#include "scheduler/scheduler_core.hpp"
#include "worker/interrupter.hpp"
#include "worker/team.hpp"
#include "worker/wait.hpp"

namespace filch::detail {
namespace {

/// Of those that run, so many are asked in one search for help. With `sender` each may take 20 us.
constexpr std::size_t most_asked = 8;

/// Workers that one search for help looks at.
constexpr std::uint32_t most_looked_at = 16;

/// Has any queue a task of the group?
bool is_filled(const group_rest& group) noexcept {
  return group.any_lane([](const detached_lane& lane) {
    return lane.filled.load(std::memory_order_seq_cst);  // [DQ3] after [DG3]
  });
}

/// While it lasts, who adds a task of the group wakes those that have said that they wait for it.
struct watching {
  explicit watching(const group_rest& of) noexcept : group(of) { group.home.watch(group); }
  ~watching() { group.home.unwatch(group); }
  watching(const watching&) = delete;
  watching& operator=(const watching&) = delete;

  const group_rest& group;
};

}  // namespace

template <class F>
bool injector::any_running(const group_rest& group, const worker& by, F f) const noexcept {
  for (std::uint32_t i = 0; i < everybody_.size(); ++i) {
    const worker& w = everybody_[i];
    if (&w == &by) continue;
    const std::uint64_t activation = w.activations.find_group(&group);
    if (activation != 0 && f(lineage{w.number, activation})) return true;
  }
  return false;
}

/// For the detached tasks of a group. The worker runs those that nobody has begun, and parts of the others.
class injector::group_wait : public waiting_worker {
 public:
  group_wait(injector& tasks, worker& w, group_rest& group, bool from_outside) noexcept
      : waiting_worker(w), tasks_(tasks), group_(group), from_outside_(from_outside) {}
  ~group_wait() { w_.wait.await_no_group(); }
  group_wait(const group_wait&) = delete;
  group_wait& operator=(const group_wait&) = delete;

  bool over() noexcept { return group_.is_over(); }

  bool help() noexcept {
    // Not waiting yet, as long as there are tasks: the clock would cost more than a small group.
    if (run_given() || tasks_.run_queued(w_, group_, from_outside_)) return true;
    w_.counted.waiting.begin();
    w_.wait.await_group(&group_);
    return tasks_.help_running(w_, group_);
  }

  bool interrupt() noexcept {
    if (!w_.common.interrupter.is_on()) return false;
    bool any = false;
    tasks_.any_running(group_, w_, [&](lineage task) {
      if (w_.common.interrupter.interrupt_if_due(owner_of(task))) any = true;
      return false;
    });
    return any;
  }

  bool sleep() noexcept {
    w_.wait.await_group(&group_);
    // From now on it is woken for tasks that come, and when some have ended.
    const watching here(group_);
    if (group_.is_over()) return true;
    if (is_filled(group_)) return true;
    lineage asked{};  // a policy that brings help brings it for one task
    doze_unless(
        [&] {
          return tasks_.any_running(group_, w_, [&](lineage task) {
            if (asked.id == 0) {
              asked = task;
              w_.common.policy.await_help(w_, task);
            }
            return w_.common.policy.help_visible(w_, task);
          });
        },
        [&] {
          std::int64_t first_ns = interrupter::never;
          if (!w_.common.interrupter.is_on()) return first_ns;
          tasks_.any_running(group_, w_, [&](lineage task) {
            first_ns = std::min(first_ns, w_.common.interrupter.due(owner_of(task)));
            return false;
          });
          return first_ns;
        },
        true);
    if (asked.id != 0) w_.common.policy.collect_help(w_, asked, nullptr);
    return true;
  }

 private:
  [[nodiscard]] worker& owner_of(lineage task) const noexcept { return w_.common.team[task.thief]; }

  injector& tasks_;
  group_rest& group_;
  const bool from_outside_;
};

/// For more detached tasks of a group: the worker runs those that nobody has begun, and nothing else.
class injector::group_service : public waiting_worker {
 public:
  group_service(injector& tasks, worker& w, group_rest& group, const platform::atomic<bool>& until) noexcept
      : waiting_worker(w), tasks_(tasks), group_(group), until_(until) {}
  ~group_service() { w_.wait.await_no_group(); }
  group_service(const group_service&) = delete;
  group_service& operator=(const group_service&) = delete;

  bool over() const noexcept { return until_.load(std::memory_order_relaxed); }  // as idle_wait's
  bool help() noexcept {
    if (tasks_.run_served(w_, group_)) return true;
    w_.counted.idle.begin();
    return false;
  }
  static bool interrupt() noexcept { return false; }
  bool sleep() noexcept {
    w_.wait.await_group(&group_);
    const watching here(group_);
    // [SP3] seq_cst: after the worker said that it serves. Who sets it later leaves a token. No exploration catches this: the looks
    // before, in over(), come to see it.
    if (until_.load(std::memory_order_seq_cst) || is_filled(group_)) return true;
    doze_unless([] { return false; }, [] { return interrupter::never; });
    return true;
  }

 private:
  injector& tasks_;
  group_rest& group_;
  const platform::atomic<bool>& until_;
};

void injector::serve(worker& w, group_rest& group, const platform::atomic<bool>& until) noexcept {
  const busy_section here(w);
  group_service serving(*this, w, group, until);
  wait_until_over(serving, w.common.spin_ns);
}

void injector::wait_as(worker& w, group_rest& group, bool from_outside) noexcept {
  const busy_section here(w);
  group_wait waiting(*this, w, group, from_outside);
  wait_until_over(waiting, w.common.spin_ns);
}

void injector::wait(group_rest& group) {
  if (group.is_over()) return;
  injector& home = group.home;
  const bool from_outside = home.caller() == nullptr;
  home.home_.run([&] { home.wait_as(static_cast<worker&>(*self), group, from_outside); });
}

void injector::outlast(const group_rest& group) noexcept {
  constexpr std::int64_t nap_ns = 100'000;  // nobody knows of this thread, so nobody wakes it
  platform::parker sleeping;
  while (!group.is_over()) sleeping.park_until(platform::now_ns() + nap_ns);
}

bool injector::help(worker& w, group_rest& group) noexcept {
  return run_queued(w, group, false) || help_running(w, group);
}

bool injector::help_running(worker& w, const group_rest& group) noexcept {
  const std::uint32_t n = everybody_.size();
  const auto first = static_cast<std::uint32_t>(w.random() % n);
  std::size_t asked = 0;
  for (std::uint32_t i = 0; i < std::min(n, most_looked_at) && asked < most_asked; ++i) {
    worker& other = everybody_[(first + i) % n];
    if (&other == &w) continue;
    const std::uint64_t activation = other.activations.find_group(&group);
    if (activation == 0) continue;
    if (detached_task* const t = take_nested(w, other, activation)) {
      w.occupied();
      run(w, *t);
      flush(w);
      return true;
    }
    if (w.common.policy.help(w, {other.number, activation}, nullptr)) return true;
    ++asked;
  }
  return false;
}

bool injector::help_visible(worker& w, const group_rest& group) const noexcept {
  if (is_filled(group)) return true;
  return any_running(group, w, [&](lineage task) { return w.common.policy.help_visible(w, task); });
}

}  // namespace filch::detail
