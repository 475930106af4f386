// Leapfrogging (Wagner and Calder 1993; Figure 1 of the Lace paper): steal from the thief.
#pragma once

#include "join/join.hpp"

namespace filch::detail {

class leapfrog final : public join_strategy {
 public:
  steal_result find(steal_source& from, worker& w, lineage awaited) const noexcept override;
};

}  // namespace filch::detail
