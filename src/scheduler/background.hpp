// Tasks that are part of no construct: submitted ones, and continuations of futures. They are detached tasks of one group,
// for which nobody waits; who waits for a future looks at its task.
//
// Thread safety: any thread may call anything.
#pragma once

#include <memory>

#include <filch/detail/background_task.hpp>

#include "platform/thread.hpp"
#include "scheduler/group_rest.hpp"

namespace filch::detail {

class scheduler_core;

/// The way from a task to the scheduler that is to run it, which may end before.
class background_link {
 public:
  explicit background_link(scheduler_core& to) noexcept : to_(&to) {}

  /// Calls use(core) unless the scheduler has ended, which waits for that. @return false if it has.
  template <class Use>
  bool with(const Use& use) {
    const std::lock_guard lock(mutex_);
    if (to_ == nullptr) return false;
    use(*to_);
    return true;
  }
  /// The scheduler ends.
  void cut() noexcept {
    const std::lock_guard lock(mutex_);
    to_ = nullptr;
  }

 private:
  platform::mutex mutex_;
  scheduler_core* to_;
};

class background {
 public:
  explicit background(scheduler_core& home) : home_(home), link_(std::make_shared<background_link>(home)) {}

  /// A new task, held, which keeps itself. Throws std::bad_alloc, and std::system_error when there is no thread.
  void adopt(background_task& t, std::shared_ptr<void> itself);
  /// An adopted task may run.
  void queue(background_task& t) noexcept;
  /// No task comes any more.
  void close() noexcept { link_->cut(); }

 private:
  scheduler_core& home_;
  const std::shared_ptr<background_link> link_;
  platform::mutex mutex_;
  std::unique_ptr<group_rest> tasks_;  ///< made with the first task
};

}  // namespace filch::detail
