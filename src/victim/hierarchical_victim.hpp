// The nearest victims first, and farther ones after some attempts in vain: HotSLAW's hierarchical victim selection (Min,
// Iancu and Yelick 2011), with which the ADWS paper (Shiina and Taura 2019, section 5) compares itself.
//
// Near is who shares a core, then a last-level cache, then a socket. Levels at which a worker has nobody new are left out,
// so where workers are not bound to processors (options::pinning) victims are uniformly random.
#pragma once

#include <cstdint>

#include "victim/victim.hpp"

namespace filch::detail {

class hierarchical_victim final : public victim_selector {
 public:
  /// So many attempts in succession at each level but the last.
  explicit hierarchical_victim(std::uint32_t attempts) noexcept : attempts_(attempts) {}

  [[nodiscard]] worker* choose(worker& thief) const noexcept override;

 private:
  std::uint32_t attempts_;
};

}  // namespace filch::detail
