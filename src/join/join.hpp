// What a worker does while the task that it waits for runs elsewhere.
#pragma once

#include "join/steal_source.hpp"

namespace filch::detail {

class join_strategy {
 public:
  join_strategy() = default;
  virtual ~join_strategy() = default;
  join_strategy(const join_strategy&) = delete;
  join_strategy& operator=(const join_strategy&) = delete;
  /// Tries once to find work for `w`, which waits for the task that `awaited` names.
  virtual steal_result find(steal_source& from, worker& w, lineage awaited) const noexcept = 0;
  /// Does a worker that waits run what it was given, whatever that is?
  [[nodiscard]] virtual bool runs_given() const noexcept { return false; }
};

}  // namespace filch::detail
