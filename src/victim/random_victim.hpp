// Uniformly random victims, as in Blumofe and Leiserson (1994) and all five papers' baselines.
#pragma once

#include "victim/victim.hpp"

namespace filch::detail {

class random_victim final : public victim_selector {
 public:
  [[nodiscard]] worker* choose(worker& thief) const noexcept override;
};

}  // namespace filch::detail
