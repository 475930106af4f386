// How long a worker had nothing to run.
#pragma once

#include <cstdint>

#include <filch/platform/memory.hpp>

#include "platform/clock.hpp"

namespace filch::detail {

/// The owner begins and ends a stretch of it; any thread reads, also in the middle of one.
class idle_time {
 public:
  /// Does nothing when it has begun already.
  void begin() noexcept {
    if (lasts_) return;
    lasts_ = true;
    begun_ns_ = platform::now_ns();
    sum_ns_ -= begun_ns_;
    publish();
  }
  /// Does nothing when it has not begun. @return how long it lasted, in nanoseconds; 0: it had not.
  std::int64_t end() noexcept {
    if (!lasts_) return 0;
    lasts_ = false;
    const std::int64_t now_ns = platform::now_ns();
    sum_ns_ += now_ns;
    publish();
    return now_ns - begun_ns_;
  }

  /// Any thread. Nanoseconds, those of a stretch that lasts included.
  [[nodiscard]] std::uint64_t ns() const noexcept {
    const auto word = static_cast<std::int64_t>(word_.load(std::memory_order_relaxed));
    return static_cast<std::uint64_t>((word >> 1) + (word % 2 != 0 ? platform::now_ns() : 0));
  }

  /// For readers in other processes: where the word is that has all of it (filch/watched.hpp).
  [[nodiscard]] const void* address() const noexcept { return &word_; }

 private:
  // One word, so that a reader never sees half of a change. relaxed: a number to look at, nothing depends on it.
  void publish() noexcept {
    word_.store(static_cast<std::uint64_t>(2 * sum_ns_ + (lasts_ ? 1 : 0)), std::memory_order_relaxed);
  }

  bool lasts_ = false;
  std::int64_t begun_ns_ = 0;
  std::int64_t sum_ns_ = 0;  ///< while a stretch lasts: less the time when it began
  platform::atomic<std::uint64_t> word_{0};
};

}  // namespace filch::detail
