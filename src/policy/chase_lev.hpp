// Chase and Lev (2005), the baseline of the private-deques paper: every pushed task is visible to thieves at once.
//
// The owner's attention is raised for ever, so that each push takes the slow path and publishes. What this costs beside
// a hand-inlined Chase-Lev is measured by bench/micro. Deviation: a push is sequentially consistent, because an offer
// must not overlook a worker that falls asleep; the paper's workers never sleep.
#pragma once

#include "policy/stealing_policy.hpp"

namespace filch::detail {

class chase_lev final : public stealing_policy {
 public:
  using stealing_policy::stealing_policy;

  [[nodiscard]] std::unique_ptr<offer> make_offer() const override;
  void answer(worker& w) noexcept override;
  [[nodiscard]] bool reclaim(worker& w, slot& s) noexcept override;
  void rejoin(worker& w, slot& s) noexcept override;
  [[nodiscard]] bool can_be_asked() const noexcept override { return false; }

 private:
  void offer_tasks(worker& w) noexcept override { answer(w); }
  steal_result take_task(worker& thief, worker& victim, const lineage* only) noexcept override;
  [[nodiscard]] bool shows_task(const worker& victim, const lineage* only) const noexcept override;
  [[nodiscard]] std::uint32_t taken_end(const worker& victim) const noexcept override;

  struct ring;
  [[nodiscard]] static ring& ring_of(const worker& w) noexcept;
};

}  // namespace filch::detail
