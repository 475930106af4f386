// Whom to ask for work.
#pragma once

#include <cstdint>

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

/// One of the workers [begin, end), of which `thief` is one, at random; never itself, null if there is no other. Upper bits
/// scaled to the range: no division, and no bias worth speaking of below 2^16 workers.
[[nodiscard]] worker* draw_other(worker& thief, std::uint32_t begin, std::uint32_t end) noexcept;

}  // namespace filch::detail
