// Victims of the same socket first, uniformly at random, and after some attempts in vain any worker. For policy `standard`.
//
// What is taken from another socket brings its data along, and each look there costs several times as much as one at home.
// Where a worker is, its thread finds out when it begins to search: it need not be bound. With one socket, and where nobody is
// near, this is the uniformly random choice.
#pragma once

#include <cstdint>

#include "victim/victim.hpp"

namespace filch::detail {

class near_victim final : public victim_selector {
 public:
  [[nodiscard]] worker* choose(worker& thief) const noexcept override;

 private:
  /// So many victims in succession are of the same socket. On 64 simulated workers of two sockets twenty programs took 1.01, 0.89,
  /// 0.83 and 0.88 of their time with 16, 32, 64 and 128; on 256 of eight 0.97 with 16 and 0.96 with the others.
  static constexpr std::uint32_t near_attempts = 64;
  /// Draws for one of them.
  static constexpr int draws = 16;
};

}  // namespace filch::detail
