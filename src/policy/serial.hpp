// No parallelism: each task runs where and when it is made, in the order of the program without filch. For debugging.
//
// The workers' task stacks have no slots, so every push finds its stack full, and runs the task at once; nothing is ever
// on offer. Further workers, and threads that call run meanwhile, do the same with what they make themselves.
#pragma once

#include "worker/policy.hpp"

namespace filch::detail {

class serial final : public policy {
 public:
  [[nodiscard]] std::unique_ptr<offer> make_offer() const override;
  [[nodiscard]] bool runs_at_once() const noexcept override { return true; }
  void answer(worker& w) noexcept override {
    if (!w.diverts) w.calm();  // else it is profiled, and constructs ask on their cold paths
  }
  void offer_all(worker& /*w*/) noexcept override {}
  [[nodiscard]] bool reclaim(worker& /*w*/, slot& /*s*/) noexcept override { return true; }
  void rejoin(worker& /*w*/, slot& /*s*/) noexcept override {}
  [[nodiscard]] bool can_be_asked() const noexcept override { return true; }
  bool acquire(worker& /*w*/) noexcept override { return false; }
  [[nodiscard]] bool work_visible(worker& /*w*/) noexcept override { return false; }
  bool help(worker& /*w*/, lineage /*awaited*/, work_share* /*adopter*/) noexcept override { return false; }
  [[nodiscard]] bool help_visible(worker& /*w*/, lineage /*awaited*/) noexcept override { return false; }
};

}  // namespace filch::detail
