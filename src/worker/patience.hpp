// How long to wait before looking again, and how long to spin before going to sleep.
#pragma once

#include <cstdint>

#include <filch/platform/ticks.hpp>

#include "platform/clock.hpp"

namespace filch::detail {

/// Pauses for so many ticks.
inline void pause_for(std::uint64_t ticks) noexcept {
  if (ticks == 0) return;
  for (const std::uint64_t since = platform::ticks(); platform::ticks() - since < ticks;) platform::pause();
}

class patience {
 public:
  /// The default. Longer than a sleep and a wake-up take, so that short waits do not pay for one; short enough to cost
  /// nothing.
  static constexpr std::int64_t spin_ns = 50'000;

  explicit patience(std::int64_t limit_ns = spin_ns, std::uint32_t turns_per_look = platform::pauses_per_look) noexcept
      : limit_ns_(limit_ns), turns_per_look_(turns_per_look) {}
  /// Where each turn is a search for work, which may take long by itself: the clock is looked at in each.
  [[nodiscard]] static patience of_searches(std::int64_t limit_ns) noexcept { return patience(limit_ns, 1); }
  /// Something happened: start anew.
  void begin() noexcept { spins_ = 0; }
  /// Pauses for a moment. False: spun for long enough.
  [[nodiscard]] bool go_on() noexcept {
    platform::pause();
    if (spins_++ % turns_per_look_ != 0) return true;
    const std::int64_t now = platform::now_ns();
    if (spins_ == 1) since_ns_ = now;
    return now - since_ns_ < limit_ns_;
  }

 private:
  std::int64_t limit_ns_;
  std::uint32_t turns_per_look_;
  std::uint32_t spins_ = 0;
  std::int64_t since_ns_ = 0;
};

}  // namespace filch::detail
