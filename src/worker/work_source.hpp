// Where idle workers find tasks that lie on no task stack: the injector's queues, the export rings of a place.
#pragma once

namespace filch::detail {

class worker;

class work_source {
 public:
  work_source() = default;
  virtual ~work_source() = default;
  work_source(const work_source&) = delete;
  work_source& operator=(const work_source&) = delete;

  /// Worker out of work, searching: tries once to find a task, ends the search, and runs that and what its own queue
  /// then holds. False: found nothing.
  virtual bool acquire(worker& w) noexcept = 0;
  /// Worker about to sleep: is there a task? Not wrongly false, if the task was put there by a sequentially consistent
  /// operation before the worker announced its sleep.
  [[nodiscard]] virtual bool work_visible() const noexcept = 0;
};

}  // namespace filch::detail
