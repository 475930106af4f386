// The rule of lazy scheduling: work is put on offer when, and only when, too little of the owner's is (lazy-scheduling
// paper, sections 3.3, 6.1 and 6.2).
#pragma once

#include <filch/loop.hpp>

#include "loop/carve.hpp"

namespace filch::detail {

struct lazy_rule {
  unsigned threshold;  ///< pieces and tasks on offer, at least
  giving_order order;
};

[[nodiscard]] constexpr lazy_rule rule_of(loop_kind kind) noexcept {
  if (kind == loop_kind::lazy_depth) return {1, giving_order::innermost};
  if (kind == loop_kind::lazy_depth2) return {2, giving_order::innermost};
  return {1, giving_order::oldest};
}

/// Owner. Cuts pieces off loops until enough are on offer; for loops with a lazy way of their own, where the policy has
/// another.
void keep_offered(worker& w, loop_kind kind) noexcept;

}  // namespace filch::detail
