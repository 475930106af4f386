#include "scheduler/group_rest.hpp"

#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "scheduler/process_profile.hpp"
#include "worker/worker.hpp"

namespace filch::detail {

group_rest::group_rest(injector& of, std::uint32_t queues, detached_queue& first)
    : home(of),
      queues_(queues),
      lanes_(std::make_unique<platform::atomic<detached_lane*>[]>(queues)),
      own_lane_(*this, first) {
  add_lane(own_lane_);
}

group_rest::~group_rest() {
  each_lane([this](const detached_lane& lane) {
    if (&lane != &own_lane_) delete &lane;
  });
}

void group_rest::record(std::uint64_t order) noexcept { error_.note(mutex_, order); }

std::exception_ptr group_rest::take_error() noexcept {
  // Several may wait for the group; one of them has the exception.
  const std::lock_guard lock(mutex_);
  return error_.take();
}

void group_rest::add_profile(const profiled_work& root) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    if (profile_ == nullptr) profile_ = std::make_unique<group_profile>();
    profile_->add(root);
  } catch (const std::exception&) {
    process_profile::add(root);
  }
}

void group_rest::end_profile() noexcept {
  std::unique_ptr<group_profile> ended;
  const std::lock_guard lock(mutex_);
  ended.swap(profile_);  // it ends when the lock is open
}

profiled_construct* group_rest::profiled_by(const worker& w) noexcept {
  if (!w.profile) return nullptr;
  profiled_construct* const of_root = w.profile->construct_of(*this);
  return of_root != nullptr ? of_root : &profiled;
}

void group_rest::count_made(detached_lane& in) noexcept {
  // [DG2] relaxed: published with the task.
  in.made.store(in.made.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void group_rest::count_ended(const detached_queue& of, std::uint64_t count) noexcept {
  detached_lane* const lane = find_lane(of);
  // [DG1] release: what the tasks did, for whoever sees that none is left; the last touch of the group. seq_cst: before the look
  // for waiters, [DG3].
  (lane != nullptr ? *lane : own_lane_).ended.fetch_add(count, std::memory_order_seq_cst);
}

bool group_rest::is_over() const noexcept {
  // First those that have ended: who sees a task's end sees also that it was made, and what it has made.
  std::uint64_t pending = 0;
  each_lane([&](const detached_lane& lane) {
    // [DG1] acquire. seq_cst: after a waiter has said that it watches, [DG3].
    pending -= lane.ended.load(std::memory_order_seq_cst);
  });
  each_lane([&](const detached_lane& lane) {
    pending += lane.made.load(std::memory_order_relaxed);  // [DG2] relaxed: acquired by [DG1]
  });
  return pending == 0;
}

void group_rest::add_lane(detached_lane& lane) noexcept {
  const std::uint32_t number = lane.queue.number;
  lanes_[number].store(&lane, std::memory_order_relaxed);
  // [DG4] release: the lane. seq_cst: before the look for waiters, who have not seen it. No exploration catches this: a lane would have
  // to be made between the waiter's last pause and its sleep. An addition, which never fails: all may come at the same time.
  in_use_[number / 64].fetch_add(std::uint64_t{1} << number % 64, std::memory_order_seq_cst);
}

bool group_rest::may_have_lane(const detached_queue& in) const noexcept { return in.number < queues_; }

detached_lane* group_rest::find_lane(const detached_queue& in) const noexcept {
  // relaxed: the caller is inside of the queue, or is the queue's worker, which alone has made it
  return may_have_lane(in) ? lanes_[in.number].load(std::memory_order_relaxed) : nullptr;
}

detached_lane* group_rest::make_lane(detached_queue& in) noexcept {
  if (!may_have_lane(in)) return nullptr;
  auto* const made = new (std::nothrow) detached_lane(*this, in);
  if (made == nullptr) return nullptr;
  add_lane(*made);
  return made;
}

}  // namespace filch::detail
