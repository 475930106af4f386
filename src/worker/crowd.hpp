// More workers than processors: whom to leave asleep for a while. See docs/protocols/sleep.md, "More workers than processors".
#pragma once

#include <cstdint>

#include <filch/platform/memory.hpp>

#include "platform/parker.hpp"

namespace filch::detail {

/// As many workers as processors are awake. One more would only take a processor from one of them, in the middle of what the
/// others will wait for. So who offers something wakes nobody then, and notes that it has not; the lookout looks after it.
class crowd {
 public:
  /// `processors`: that many awake workers are a crowd. 0: there are enough for all.
  explicit crowd(std::uint32_t processors) noexcept : processors_(processors) {}

  /// 0: there are enough for all workers.
  [[nodiscard]] std::uint32_t processors() const noexcept { return processors_; }
  [[nodiscard]] bool is_one(std::uint32_t awake) const noexcept { return processors_ != 0 && awake >= processors_; }
  /// May more come all the same? Seen late, some come too many, or later.
  [[nodiscard]] bool is_open() const noexcept { return is_open_.load(std::memory_order_relaxed); }

  /// Any thread, also a signal handler. Something was made visible by a sequentially consistent operation, and nobody was woken
  /// for it.
  void note() noexcept {
    // [CW1] seq_cst: after what was made visible, in the one total order. Who finds it noted comes before the look for which it
    // was noted; else before the lookout's rest, or this sees that it rests.
    if (noted_.load(std::memory_order_seq_cst)) return;
    noted_.store(true, std::memory_order_seq_cst);
    if (!is_watched_.load(std::memory_order_seq_cst)) lookout_.unpark();
  }

  // For the lookout.

  // relaxed: a hint; rest() looks once more.
  [[nodiscard]] bool is_noted() const noexcept { return noted_.load(std::memory_order_relaxed); }
  void open(bool is_open) noexcept { is_open_.store(is_open, std::memory_order_relaxed); }
  /// Before it wakes somebody, who looks at all that was noted until then.
  void forget() noexcept { noted_.store(false, std::memory_order_seq_cst); }  // [CW1]
  /// Sleeps until something is noted, or somebody calls wake_lookout(); or for no reason.
  void rest() noexcept {
    is_watched_.store(false, std::memory_order_seq_cst);           // [CW1]
    if (!noted_.load(std::memory_order_seq_cst)) lookout_.park();  // [CW1]
    is_watched_.store(true, std::memory_order_relaxed);            // seen late: a token too many
  }
  /// Sleeps until that time (now_ns()), if not until somewhat earlier.
  void rest_until(std::int64_t deadline_ns) noexcept { lookout_.park_until(deadline_ns); }
  /// Any thread.
  void wake_lookout() noexcept { lookout_.unpark(); }

 private:
  const std::uint32_t processors_;
  platform::atomic<bool> noted_{false};       ///< something is visible for which nobody was woken
  platform::atomic<bool> is_watched_{false};  ///< the lookout looks after it by itself
  platform::atomic<bool> is_open_{false};
  platform::parker lookout_;
};

}  // namespace filch::detail
