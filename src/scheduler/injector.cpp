#include "scheduler/injector.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <utility>

#include <filch/platform/ticks.hpp>

#include "platform/clock.hpp"
#include "platform/parker.hpp"
#include "scheduler/scheduler_core.hpp"
#include "worker/interrupter.hpp"
#include "worker/patience.hpp"
#include "worker/team.hpp"
#include "worker/wait.hpp"

namespace filch::detail {
namespace {

/// In the spawn order, detached tasks come after those on the stack, whose order is their address.
constexpr std::uint64_t first_detached = std::uint64_t{1} << 63;

/// So many tasks change queues at once: few enough that nobody stays inside of a queue for long.
constexpr std::size_t most_at_once = 256;

/// Of all idle workers, about so many look at the queues of others at the same time.
constexpr std::uint32_t lookers = 32;

/// Of those that run, so many are asked in one search for help. With `sender` each may take 20 us.
constexpr std::size_t most_asked = 8;

/// Lanes of a queue that one search looks at.
constexpr std::size_t most_lanes = 16;

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

/// Runs what take() takes, until that is nothing. False: it was nothing at once.
template <class Take>
bool injector::run_all(worker& w, const Take& take) noexcept {
  bool ran = false;
  while (detached_task* const t = take()) {
    w.occupied();
    run(w, *t);
    ran = true;
  }
  flush(w);
  return ran;
}

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
    if (tasks_.run_all(w_, [this] { return take(); })) return true;
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
  /// What it takes from the queues of others is counted, as what idle workers take.
  detached_task* take() noexcept {
    if (detached_task* const own = tasks_.take_own(w_, &group_)) return own;
    detached_task* const t = tasks_.take_of(w_, group_, false);
    if (t != nullptr) w_.count(&counters::steals);
    return t;
  }

  injector& tasks_;
  group_rest& group_;
  const platform::atomic<bool>& until_;
};

void injector::serve(worker& w, group_rest& group, const platform::atomic<bool>& until) noexcept {
  const busy_section here(w);
  group_service serving(*this, w, group, until);
  wait_until_over(serving, w.common.spin_ns);
}

worker* injector::caller() const noexcept {
  worker* const w = worker::of_this_thread();
  return w != nullptr && &w->core == &home_ ? w : nullptr;
}

std::unique_ptr<group_rest> injector::make_rest() { return make_rest(everybody_.most() + 1); }

std::unique_ptr<group_rest> injector::make_lasting_rest() { return make_rest(group_rest::most_queues); }

std::unique_ptr<group_rest> injector::make_rest(std::uint32_t wanted) {
  // Tasks come into the first queue also where there is no memory for another lane. A guest's may be gone by then.
  worker* const w = caller();
  const bool stays = w != nullptr && w->number < home_.chosen().workers;
  detached_queue& own = stays ? w->detached.queue : outside_;
  const std::uint32_t queues = std::min(wanted, group_rest::most_queues);
  return std::make_unique<group_rest>(*this, queues, own.number < queues ? own : outside_);
}

void* injector::take_memory(closure_pool*& from) noexcept {
  if (worker* const w = caller()) {
    from = &w->detached.closures;
    return from->take();
  }
  return outside_closures_.take(from);
}

detached_queue& injector::own_queue() noexcept {
  worker* const w = caller();
  return w != nullptr ? w->detached.queue : outside_;
}

// Afterwards the caller is inside of the lane's queue.
detached_lane& injector::enter_lane(detached_queue& preferred, group_rest& group) noexcept {
  preferred.enter();
  // Mostly the one that was filled last.
  detached_lane* lane = preferred.newest_lane();
  if (lane != nullptr && &lane->group == &group) return *lane;
  lane = group.find_lane(preferred);
  if (lane == nullptr) lane = group.make_lane(preferred);
  if (lane != nullptr) return *lane;
  preferred.leave();
  group.own_lane().queue.enter();
  return group.own_lane();
}

// The caller is inside of the lane's queue, and no more afterwards. Then it must not touch the lane.
void injector::add(detached_lane& lane, const detached_queue::row& tasks) noexcept {
  const group_rest* const group = &lane.group;
  const bool somebody_waits = lane.queue.add(lane, tasks) && watch_count_of(*group).is_watched();
  const bool queue_was_empty = lane.queue.leave();
  if (somebody_waits) wake_waiters_of(group);
  if (!queue_was_empty) return;
  if (worker* const w = caller()) {
    idle_.offered(*w, 1, takers::anybody);
  } else {
    idle_.offered();
  }
}

void injector::hold(group_rest& group) noexcept {
  const busy_section here(*self);
  detached_lane& lane = enter_lane(own_queue(), group);
  group_rest::count_made(lane);
  lane.queue.leave();
}

void injector::queue(detached_task& t, bool is_new) noexcept {
  group_rest& group = *t.home;
  // One that is released waits for a worker that has time. Who releases it may be the network's thread, or a worker that looks for
  // messages amid another task, or a released task: they would be as deep in each other as their chain is long.
  if (is_new && home_.runs_at_once()) {
    t.order = first_detached + platform::passed_tick();
    if (run_at_once(group, t)) return;
  }
  const busy_section here(*self);
  detached_lane& lane = enter_lane(own_queue(), group);
  // Several queues have nothing in common but the clock.
  t.order = lane.newest_order = group.fills_several(lane) ? first_detached + platform::passed_tick()
                                                          : std::max({lane.newest_order + 1, first_detached, t.order});
  if (is_new) group_rest::count_made(lane);
  if (lane.queue.is_empty()) lane.queue.put_off_visits();
  add(lane, {&t, &t, 1});
}

// False: there was no memory for a guest.
bool injector::run_at_once(group_rest& group, detached_task& t) noexcept {
  try {
    home_.run_tasks([&] {
      auto& w = static_cast<worker&>(*self);
      const busy_section here(w);
      hold(group);
      w.begin_detached(group);
      run(w, t);
      flush(w);
    });
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

injector::watch_count& injector::watch_count_of(const group_rest& group) noexcept {
  return watched_[group.own_lane().queue.number % watch_counts];
}

void injector::watch(const group_rest& group) noexcept {
  // [DG3] seq_cst: before the waiter's last look; pairs with is_watched(): one of the two sees the other. release: whom it awaits, for
  // who looks for it.
  watch_count_of(group).watchers.fetch_add(1, std::memory_order_seq_cst);
}

void injector::unwatch(const group_rest& group) noexcept {
  // [DG3] relaxed: who still finds it looks for waiters for nothing.
  watch_count_of(group).watchers.fetch_sub(1, std::memory_order_relaxed);
}

// The group may be gone; but who waits for another one at that place wakes up for nothing.
void injector::wake_waiters_of(const group_rest* group) noexcept {
  for (std::uint32_t i = 0; i < everybody_.size(); ++i) {
    worker& w = everybody_[i];
    // [DB6] relaxed: said before [DG3].
    if (w.wait.group.load(std::memory_order_relaxed) == group) w.parker.unpark();
  }
}

void injector::end(group_rest& of) noexcept {
  auto& w = static_cast<worker&>(*self);
  const busy_section here(w);
  w.activations.leave_group();
  if (w.detached.ended_of != &of) {
    flush(w);
    w.detached.ended_of = &of;
  }
  ++w.detached.ended;
}

void injector::flush(worker& w) noexcept {
  const std::uint64_t ended = std::exchange(w.detached.ended, 0);
  if (ended == 0) return;
  group_rest* const group = std::exchange(w.detached.ended_of, nullptr);
  const watch_count& watch = watch_count_of(*group);
  group->count_ended(w.detached.queue, ended);
  if (watch.is_watched()) wake_waiters_of(group);
}

void injector::run(worker& w, detached_task& t) noexcept {
  // Not later: who waits for another group does not wait for this task.
  if (w.detached.ended_of != t.home) flush(w);
  if (home_.is_profiled()) [[unlikely]] {
    run_profiled(w, t);
  } else {
    w.run_detached(t, t.home->scope);
  }
}

// Of a thread that only runs tasks each is a root: in between it searches, which is no work, and in which the program may end.
void injector::run_profiled(worker& w, detached_task& t) noexcept {
  group_rest& group = *t.home;
  const bool is_root = w.profile == nullptr;
  if (is_root) home_.begin_profile(w, group);
  {
    const profiled_child of_group(group.profiled_by(w));
    w.run_detached(t, group.scope);
  }
  if (is_root) home_.end_profile(w, group);
}

// The newest task of its own, of that group if one is given.
detached_task* injector::take_own(worker& w, const group_rest* of) noexcept {
  detached_queue& own = w.detached.queue;
  if (!own.may_have_tasks()) return nullptr;
  own.enter();
  detached_lane* lane = own.newest_lane();
  if (of != nullptr && lane != nullptr && &lane->group != of) lane = of->find_lane(own);
  detached_task* t = nullptr;
  if (lane != nullptr && lane->size != 0) {
    w.begin_detached(lane->group);
    t = own.take_newest(*lane);
  }
  own.leave();
  return t;
}

// A waiter that comes from outside has made the tasks there, mostly, and takes them as a worker takes its own. Several such
// threads would meet at each task; who does meet somebody takes half.
detached_task* injector::take_outside(worker& w, detached_lane& lane) noexcept {
  const bool alone = outside_.try_enter();
  if (!alone) outside_.enter();
  if (lane.size == 0) {
    outside_.leave();
    return nullptr;
  }
  if (!alone) return take_half_inside(w, lane);
  w.begin_detached(lane.group);
  detached_task* const t = outside_.take_newest(lane);
  outside_.leave();
  return t;
}

detached_task* injector::take_half(worker& w, detached_queue& from, detached_lane* only) noexcept {
  if (!from.may_visit() || !from.try_enter()) return nullptr;
  detached_lane* const lane = only != nullptr ? only : from.oldest_lane();
  if (lane == nullptr || lane->size == 0) {
    from.leave();
    return nullptr;
  }
  return take_half_inside(w, *lane);
}

// The caller is inside of the queue, and no more afterwards.
detached_task* injector::take_half_inside(worker& w, detached_lane& lane) noexcept {
  group_rest& group = lane.group;
  // First: who finds the lane empty finds this worker in the middle of its task.
  w.begin_detached(group);
  detached_queue& from = lane.queue;
  // Without a lane of its own it would put back what it does not run.
  const std::size_t most = group.may_have_lane(w.detached.queue) ? most_at_once : 1;
  const detached_queue::row taken = from.take_oldest(lane, std::min((lane.size + 1) / 2, most));
  from.leave();
  if (taken.size == 1) return taken.oldest;
  // The others are for whoever comes.
  detached_lane& own = enter_lane(w.detached.queue, group);
  add(own, {taken.oldest->next, taken.newest, taken.size - 1});
  return taken.oldest;
}

// In that activation the worker has taken tasks of further groups; so it waits for those, and all their tasks belong to
// the one that it runs there.
detached_task* injector::take_nested(worker& w, worker& from, std::uint64_t activation) noexcept {
  detached_queue& queue = from.detached.queue;
  if (!w.activations.has_room() || !queue.may_visit() || !queue.try_enter()) return nullptr;
  detached_lane* lane = queue.oldest_lane();
  for (std::size_t i = 0; i < most_lanes && lane != nullptr; ++i) {
    if (from.activations.has_group_inside(activation, &lane->group)) return take_half_inside(w, *lane);
    lane = lane->newer;
  }
  queue.leave();
  return nullptr;
}

detached_task* injector::take_any(worker& w) noexcept {
  if (!w.activations.has_room()) return nullptr;
  if (detached_task* const t = take_own(w, nullptr)) return t;
  const std::uint32_t n = everybody_.size();
  // Where everybody looks at once, they wait for each other.
  if (w.random() % (n / lookers + 1) != 0) return nullptr;
  // Where the last search has found some, there may be more.
  const auto first = w.detached.found_at != 0 ? w.detached.found_at - 1 : static_cast<std::uint32_t>(w.random() % n);
  for (std::uint32_t i = 0; i <= n; ++i) {
    detached_queue& from = i == n ? outside_ : everybody_[(first + i) % n].detached.queue;
    if (detached_task* const t = take_half(w, from, nullptr)) {
      w.detached.found_at = from.number;
      return t;
    }
  }
  w.detached.found_at = 0;
  return nullptr;
}

// However deeply it is nested: who waits has to run what nobody else does.
detached_task* injector::take_of(worker& w, group_rest& group, bool from_outside) noexcept {
  if (detached_task* const t = take_own(w, &group)) return t;
  detached_task* found = nullptr;
  group.any_lane([&](detached_lane& lane) {
    // [DQ3] relaxed: a hint
    if (&lane.queue != &w.detached.queue && lane.filled.load(std::memory_order_relaxed)) {
      found = from_outside && &lane.queue == &outside_ ? take_outside(w, lane) : take_half(w, lane.queue, &lane);
    }
    return found != nullptr;
  });
  return found;
}

bool injector::acquire(worker& w) noexcept { return run_found(w, take_any(w)); }

bool injector::acquire_from_outside(worker& w) noexcept {
  // Who has brought the first task may run it at once, and each look takes lines from it meanwhile.
  pause_for(outside_.rest_left());
  return w.activations.has_room() && run_found(w, take_half(w, outside_, nullptr));
}

// Idle worker. With what comes with it.
bool injector::run_found(worker& w, detached_task* t) noexcept {
  if (t == nullptr) return false;
  w.occupied();
  w.common.sleepers.end_search(w);
  // What came with it is in its own queue. Each worker that finds some wakes two, so that they wake as a tree grows.
  if (w.detached.queue.may_have_tasks()) idle_.offered(w, sleepers::most_woken, takers::anybody);
  w.count(&counters::steals);
  for (; t != nullptr; t = take_own(w, nullptr)) run(w, *t);
  flush(w);
  return true;
}

bool injector::work_visible() const noexcept {
  for (std::uint32_t i = 0; i < everybody_.size(); ++i) {
    if (everybody_[i].detached.queue.has_tasks()) return true;
  }
  return outside_.has_tasks();
}

void injector::drain(worker& w) noexcept {
  const busy_section here(w);
  while (work_visible()) {
    if (detached_task* const t = take_any(w)) {
      run(w, *t);
    } else {
      platform::pause();  // somebody is taking tasks
    }
  }
  flush(w);
}

bool injector::help(worker& w, group_rest& group) noexcept {
  return run_queued(w, group, false) || help_running(w, group);
}

bool injector::run_queued(worker& w, group_rest& group, bool from_outside) noexcept {
  return run_all(w, [&] { return take_of(w, group, from_outside); });
}

bool injector::help_visible(worker& w, const group_rest& group) const noexcept {
  if (is_filled(group)) return true;
  return any_running(group, w, [&](lineage task) { return w.common.policy.help_visible(w, task); });
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

void injector::wait_as(worker& w, group_rest& group, bool from_outside) noexcept {
  const busy_section here(w);
  group_wait waiting(*this, w, group, from_outside);
  wait_until_over(waiting, w.common.spin_ns);
}

}  // namespace filch::detail
