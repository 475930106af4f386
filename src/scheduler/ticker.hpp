// A thread that interrupts, again and again, all workers that others wait for: the periodic interrupts of section 4 of
// the private-deques paper (Acar, Charguéraud and Rainey 2013). It sleeps while no thread is in the scheduler, and
// leaves workers alone while none is idle.
#pragma once

#include <cstdint>

#include <filch/platform/memory.hpp>

#include "platform/parker.hpp"
#include "platform/thread.hpp"
#include "worker/interrupter.hpp"
#include "worker/sleepers.hpp"

namespace filch::detail {

class ticker {
 public:
  ticker(interrupter& by, const sleepers& idle, std::int64_t every_ns);
  ~ticker();
  ticker(const ticker&) = delete;
  ticker& operator=(const ticker&) = delete;

  /// Any thread. One more is in the scheduler.
  void enter() noexcept;
  /// Any thread. One less.
  void leave() noexcept;

 private:
  void run() noexcept;

  interrupter& by_;
  const sleepers& idle_;
  std::int64_t every_ns_;
  platform::atomic<std::uint32_t> inside_{0};
  platform::atomic<bool> stopping_{false};
  platform::parker parker_;
  platform::thread thread_;  // last: it uses all of the others
};

}  // namespace filch::detail
