// Sender-initiated work stealing with private deques (Acar, Charguéraud and Rainey 2013, Figure 3): a worker without
// work says so in its communication cell, and busy workers, when they look up at a push, at a join or between chunks of
// a loop, now and then choose a worker at random, see whether it waits, and deal it their oldest task. A worker never
// gives its last task away, the one it runs counted. Steal-half (section 5): half of its tasks at once.
//
// The dates of the attempts are a Poisson process: between two of them pass -δ ln(u), u uniform in (0, 1]. They are not
// reset when a worker gets something. A single task is dealt by one compare-and-swap; halves, and parts of loops, by
// the two steps of Figure 3.
//
// Deviations. Workers look up only while somebody is without work: their attention is left raised for as long, and who
// gets idle asks everybody. A date that passed while nobody was idle is drawn anew, as if attempts had gone on in vain.
// Who waits falls asleep, still waiting, and is woken by what it is dealt; until it has collected that, the dealer may
// take it back. An owner that falls asleep at a join deals what it has to all who wait, without regard to dates, since
// nobody knows when it would look up again. Who waits at a join is dealt only what was made inside of the task that it
// waits for, by the worker that runs that; and since no other can, that one looks at it whenever the worker chosen at
// random does not wait.
#pragma once

#include <cstdint>

#include "deque/communication_cell.hpp"
#include "policy/private_policy.hpp"

namespace filch::detail {

class sender final : public private_policy {
 public:
  sender(std::unique_ptr<victim_selector> victims, std::unique_ptr<join_strategy> joins, std::int64_t deal_interval_ns,
         bool steal_half);

  [[nodiscard]] std::unique_ptr<offer> make_offer() const override;
  void answer(worker& w) noexcept override;
  [[nodiscard]] bool reclaim(worker& w, slot& s) noexcept override;
  [[nodiscard]] bool work_visible(worker& w) noexcept override;
  bool collect(worker& w) noexcept override;
  void await_help(worker& w, lineage awaited) noexcept override;
  void collect_help(worker& w, lineage awaited, work_share* adopter) noexcept override;

 private:
  steal_result take_task(worker& thief, worker& victim, const lineage* only) noexcept override;
  [[nodiscard]] bool shows_task(const worker& /*victim*/, const lineage* /*only*/) const noexcept override {
    return false;
  }

  struct mailbox;
  [[nodiscard]] static mailbox& mailbox_of(const worker& w) noexcept;
  /// Whether something was dealt.
  [[nodiscard]] bool attempt(worker& w, worker& to) const noexcept;
  /// Does that worker wait for something that only w can deal to it?
  [[nodiscard]] static bool is_awaited_by(const worker& w, const worker& waiter) noexcept;
  static void tell(worker& w) noexcept;
  static void wake(worker& w, worker& to, const deque::communication_cell::view& seen) noexcept;
  [[nodiscard]] bool deal_tasks(worker& w, worker& to, const deque::communication_cell::view& seen,
                                const surplus& has) const noexcept;
  [[nodiscard]] std::int64_t time_to_next(worker& w) const noexcept;
  [[nodiscard]] static steal_result end_wait(worker& w, std::uint64_t id) noexcept;

  double deal_interval_ns_;
  bool steal_half_;
};

}  // namespace filch::detail
