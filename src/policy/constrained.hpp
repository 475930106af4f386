// Constrained work stealing (Lifflander, Krishnamoorthy and Kale 2014): docs/protocols/constrained.md.
//
// In a repeated part (filch::repeated) tasks that were stolen in the iteration before are given to the workers that ran
// them then. While a worker runs a task of a relaxed iteration it offers others as in `lace`; in a strict iteration it
// offers parts of loops alone. Everywhere else this is `lace`.
#pragma once

#include "policy/lace.hpp"

namespace filch::detail {

class constrained final : public lace {
 public:
  constrained(std::unique_ptr<victim_selector> victims, std::unique_ptr<join_strategy> joins);

  [[nodiscard]] bool follows_traces() const noexcept override { return true; }
  [[nodiscard]] bool waits_run_given() const noexcept override { return true; }
  void answer(worker& w) noexcept override;
  bool acquire(worker& w) noexcept override;
  [[nodiscard]] bool work_visible(worker& w) noexcept override;
};

}  // namespace filch::detail
