// Lazy scheduling (Tzannes, Caragea, Vishkin and Barua 2014): a worker looks at what it has on offer, and offers more
// when, and only when, that is less than a threshold. How much is left of it tells how hungry the others are.
//
// lazy_depth (DF-LS) and lazy_depth2 (DF2-LS) cut the innermost loop, lazy_breadth (BF-LS, Algorithm 3) the oldest.
// Tasks of fork-join and groups are offered by the same rule (section 8), one by one or, with push_half, half of them
// at once (section 9.4).
//
// The deque check is the attention word: it is raised while too little is on offer, by the thief that took something or
// by the owner that took it back. Deviation: tasks are offered oldest first by the depth-first variants as well, since
// the shared part of a task stack is its lower part.
#pragma once

#include "loop/keep_offered.hpp"
#include "policy/lace.hpp"

namespace filch::detail {

class lazy final : public lace {
 public:
  lazy(std::unique_ptr<victim_selector> victims, std::unique_ptr<join_strategy> joins, lazy_rule rule, bool push_half);

  void answer(worker& w) noexcept override;
  void piece_taken_back(worker& w) noexcept override;

 private:
  void stolen_from(worker& victim) noexcept override;
  [[nodiscard]] bool offer_one(worker& w) const noexcept;

  lazy_rule rule_;
  bool push_half_;
};

}  // namespace filch::detail
