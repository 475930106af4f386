#include "scheduler/injector.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <utility>

#include <filch/platform/ticks.hpp>

#include "platform/clock.hpp"
#include "scheduler/scheduler_core.hpp"
#include "worker/patience.hpp"
#include "worker/sleepers.hpp"
#include "worker/slow_path.hpp"
#include "worker/team.hpp"

namespace filch::detail {
namespace {

/// In the spawn order, detached tasks come after those on the stack, whose order is their address.
constexpr std::uint64_t first_detached = std::uint64_t{1} << 63;

/// So many tasks change queues at once: few enough that nobody stays inside of a queue for long.
constexpr std::size_t most_at_once = 256;

/// Of all idle workers, about so many look at the queues of others at the same time.
constexpr std::uint32_t lookers = 32;

/// Lanes of a queue that one search looks at.
constexpr std::size_t most_lanes = 16;

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

bool injector::run_queued(worker& w, group_rest& group, bool from_outside) noexcept {
  return run_all(w, [&] { return take_of(w, group, from_outside); });
}

// What it takes from the queues of others is counted, as what idle workers take.
bool injector::run_served(worker& w, group_rest& group) noexcept {
  return run_all(w, [&] {
    if (detached_task* const own = take_own(w, &group)) return own;
    detached_task* const t = take_of(w, group, false);
    if (t != nullptr) w.count(&counters::steals);
    return t;
  });
}

}  // namespace filch::detail
