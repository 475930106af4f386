// When somebody looks at a place's network while its workers sleep, or are all busy.
//
// Shared communication: of the workers that sleep one naps, and looks at growing distances, up to 0.8 ms. While none naps
// a thread of its own, the watchdog, looks after 100 us unless somebody else has, and at growing distances as long as
// nothing comes: on a virtual processor each of its wake-ups may cost 9 us. Dedicated communication: that thread looks
// all the time while the place has work, if its processor is its own; else it naps when nothing comes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include <filch/platform/memory.hpp>
#include <filch/platform/ticks.hpp>

#include "platform/parker.hpp"
#include "platform/thread.hpp"

namespace filch::detail::places {

/// What somebody has found who has looked at the network.
enum class seen : std::uint8_t { nothing, own_work, message };

/// How long to wait for the next look: for a sixteenth of the time that nothing has come, up to 0.8 ms; not at all while
/// that is less than 20 us.
class nap {
 public:
  /// Something has come, or somebody begins to wait.
  void begin() noexcept { began_ns_.store(0); }
  /// When to look next, as now_ns(). Yields where that is at once.
  [[nodiscard]] std::int64_t next_ns() noexcept;
  /// Has it waited since it began?
  [[nodiscard]] bool has_rested() const noexcept { return has_rested_.load(); }

 private:
  platform::shared<std::int64_t> began_ns_{0};  ///< 0: at the next look
  platform::shared<bool> has_rested_{false};
};

class watcher {
 public:
  /// `is_needed`: there are other places. `look(rested)`: looks at the network.
  watcher(bool is_dedicated, bool is_needed, std::function<seen(bool rested)> look);
  ~watcher();
  watcher(const watcher&) = delete;
  watcher& operator=(const watcher&) = delete;

  /// Does a thread that does nothing else look at the network? Not at a single place, where nothing comes from outside.
  [[nodiscard]] bool is_dedicated() const noexcept { return is_dedicated_; }
  /// Whoever looks at the network, afterwards.
  void note_look() noexcept;
  /// Any thread: has nobody looked for some 50 us?
  [[nodiscard]] bool is_look_due() const noexcept;
  /// The thread ends.
  void stop() noexcept;

  // For a worker that is about to sleep: see poller.
  [[nodiscard]] bool begin_nap() noexcept;
  [[nodiscard]] std::int64_t poll_in_nap() noexcept;
  void end_nap() noexcept;

 private:
  void watch() noexcept;
  void communicate() noexcept;

  const bool is_needed_;
  const bool is_dedicated_;
  const std::function<seen(bool)> look_;
  platform::atomic<bool> napping_{false};
  platform::atomic<std::uint64_t> last_look_{0};  ///< in ticks
  platform::atomic<bool> stopping_{false};
  nap nap_;  ///< of the worker that naps
  platform::parker parker_;
  std::optional<platform::thread> thread_;  // last: it uses all of the others
};

}  // namespace filch::detail::places
