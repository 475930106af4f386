// keep_warm: workers stay awake for a while, so that what is forked next begins at once.
#pragma once

#include <filch/config.hpp>
#include <filch/scheduler.hpp>

namespace filch {

/// While one exists, no worker of the scheduler falls asleep, and who sleeps without a task wakes: a fork is taken within a
/// microsecond or two, instead of the tens of microseconds that the system needs to wake a thread. For the part of a
/// program that has parallel work every now and then and must answer fast:
///
///     { const filch::keep_warm here(pool); for (frame& f : frames) render(f); }
///
/// It costs all of the workers' processors for as long as it lasts. With more workers than processors they yield to each
/// other. Workers that other code has blocked stay blocked.
///
/// Thread safety: any thread makes and ends any number of them. Ends before the scheduler does.
class FILCH_API keep_warm {
 public:
  /// @throws what scheduler::default_scheduler() throws, when it is left to that.
  explicit keep_warm(scheduler& of = scheduler::default_scheduler());
  ~keep_warm();
  keep_warm(const keep_warm&) = delete;
  keep_warm& operator=(const keep_warm&) = delete;

 private:
  scheduler& of_;
};

}  // namespace filch
