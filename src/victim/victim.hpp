// Whom to ask for work.
#pragma once

#include "worker/worker.hpp"

namespace filch::detail {

/// Chooses victims for an idle worker. Stateless towards the caller; any worker may ask at any time.
class victim_selector {
 public:
  victim_selector() = default;
  virtual ~victim_selector() = default;
  victim_selector(const victim_selector&) = delete;
  victim_selector& operator=(const victim_selector&) = delete;
  /// The worker that `thief` shall try next, never itself; null when it is alone.
  [[nodiscard]] virtual worker* choose(worker& thief) const noexcept = 0;
};

}  // namespace filch::detail
