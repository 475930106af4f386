// Lace (van Dijk and van de Pol 2014): the task stack itself is the deque; its lower part is shared.
//
// As Figure 4 of the paper: the first task after all were stolen is shared at once; a thief that finds the shared part
// empty asks for more, and the owner's next push or join moves the split point to the middle of what is left (grow); an
// owner that comes down to a shared task moves it to the middle of what is not stolen (shrink). Deviations: see
// deque/split_deque.hpp; steal-half as an option, as section 3.3 of the paper sketches it.
#pragma once

#include "deque/split_deque.hpp"
#include "policy/stealing_policy.hpp"

namespace filch {

class lace final : public stealing_policy {
 public:
  lace(std::unique_ptr<victim_selector> victims, std::unique_ptr<join_strategy> joins, bool steal_half);

  [[nodiscard]] std::unique_ptr<offer> make_offer() const override;
  void answer(worker& w) noexcept override;
  [[nodiscard]] bool reclaim(worker& w, detail::slot& s) noexcept override;
  void rejoin(worker& w, detail::slot& s) noexcept override;

 private:
  loot take(worker& thief, worker& victim, const lineage* only) noexcept override;
  [[nodiscard]] bool shows_work(worker& victim) const noexcept override;
  [[nodiscard]] std::uint32_t taken_end(const worker& victim) const noexcept override;

  struct shared_part;
  [[nodiscard]] static shared_part& shared_part_of(const worker& w) noexcept;
  static void set_all_stolen(worker& w, detail::slot* head) noexcept;

  bool steal_half_;
};

}  // namespace filch
