// Whom a worker has yet to tell of a steal range.
#pragma once

#include <cstdint>

#include "worker/steal_range.hpp"

namespace filch::detail {

/// Owner. Others that it is to tell of a steal range that has become active (docs/protocols/adws.md).
struct telling_part {
  steal_range_ref range;         ///< none: all know
  steal_range::phase active{};   ///< of the range, until when it matters
  const void* family = nullptr;  ///< of the construct, if the worker has given tasks of it
  std::uint32_t next = 0;
};

}  // namespace filch::detail
