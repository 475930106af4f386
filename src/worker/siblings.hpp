// What the owner of a group may run besides, while it waits for one of the group's tasks on its stack: the detached tasks
// of the same group, which it waits for as well. Those that a stolen task adds lie in its thief's queue, where nobody else
// may be awake to find them.
#pragma once

namespace filch::detail {

class worker;

/// Owner only, in a busy section.
class siblings {
 public:
  siblings() = default;
  virtual ~siblings() = default;
  siblings(const siblings&) = delete;
  siblings& operator=(const siblings&) = delete;

  /// Tries once to run some of them, or a part of one that runs elsewhere. False: found nothing.
  virtual bool help(worker& w) noexcept = 0;
  /// The worker is about to sleep: it is woken from now on for those that come.
  virtual void begin_sleep(worker& w) noexcept = 0;
  /// May help() find something now? Asks as policy::help_visible() does. After begin_sleep().
  [[nodiscard]] virtual bool help_visible(worker& w) noexcept = 0;
  /// It is awake.
  virtual void end_sleep(worker& w) noexcept = 0;
};

}  // namespace filch::detail
