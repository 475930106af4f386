// Transitive leapfrogging (Wool; section 4.3 of the Lace paper): steal from the thief, or from whoever stole from it
// inside the awaited task, and so on.
//
// Deviation: Wool follows one chain; here every stolen task above the base of the awaited activation is followed,
// newest first, so that a thief which is busy itself does not hide its own thieves. What may be taken is
// exact: descendants of the awaited task only (docs/protocols/wait.md).
#pragma once

#include "join/join.hpp"

namespace filch::detail {

class transitive final : public join_strategy {
 public:
  steal_result find(steal_source& from, worker& w, lineage awaited) const noexcept override;

 private:
  static steal_result follow(steal_source& from, worker& w, lineage awaited, int& budget) noexcept;
};

}  // namespace filch::detail
