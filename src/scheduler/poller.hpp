// What a scheduler does for a place (src/places): its idle workers run tasks that came from outside, and look at the
// network from time to time. A scheduler that is no place's has none of this.
#pragma once

#include <cstdint>

namespace filch::detail {

class work_source;
namespace places {
class place;
}

/// Looks at the network for the idle workers of a scheduler. Any thread; what it finds, it puts where a work_source has
/// it.
class poller {
 public:
  poller() = default;
  virtual ~poller() = default;
  poller(const poller&) = delete;
  poller& operator=(const poller&) = delete;

  /// A worker without work, in each turn of its search.
  virtual void poll() noexcept = 0;
  /// A worker is about to sleep: may it nap instead, and look at the network in between? One at a time does.
  [[nodiscard]] virtual bool begin_nap() noexcept = 0;
  /// Looks at the network.
  /// @return when to look again, as now_ns().
  [[nodiscard]] virtual std::int64_t poll_in_nap() noexcept = 0;
  virtual void end_nap() noexcept = 0;
};

struct place_hooks {
  places::place* of = nullptr;
  work_source* tasks = nullptr;
  poller* network = nullptr;  ///< null: somebody else looks at the network
};

}  // namespace filch::detail
