// Random stealing while waiting (section 4.3 of the Lace paper): from the thief first, then from anybody.
//
// Runs tasks that have nothing to do with the awaited one: stacks may grow beyond the serial ones, and a lock held
// across a join may be wanted by such a task on the same thread. An option, never the default.
#pragma once

#include "join/join.hpp"

namespace filch::detail {

class random_join : public join_strategy {
 public:
  steal_result find(steal_source& from, worker& w, lineage awaited) const noexcept override;
};

}  // namespace filch::detail
