// Which workers are close by.
#pragma once

#include <array>
#include <cstdint>

#include "platform/placement.hpp"

namespace filch::detail {

/// Owner: workers close by, the closest first, for policy `hierarchical`. Found again when others take part.
struct near_part {
  /// Workers [begin, end). Those of one group have consecutive numbers.
  struct interval {
    std::uint32_t begin;
    std::uint32_t end;
  };

  std::uint32_t team_size = 0;  ///< for which it was found; 0: it was not yet
  std::uint32_t count = 0;      ///< levels at which there is anybody new
  std::array<interval, platform::group_levels> levels{};
};

}  // namespace filch::detail
