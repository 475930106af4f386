// Receiver-initiated work stealing with private deques (Acar, Charguéraud and Rainey 2013, Figure 2): a thief writes a
// request into its victim's cell, and the victim, when it looks up at a push, at a join or between chunks of a loop,
// writes its oldest task into the thief's cell, or declines. A worker never gives its last task away, the one it runs
// counted. Steal-half (section 5): half of its tasks at once.
//
// `receiver` is the paper's acquire, whose thief declines what it is asked while it waits for an answer;
// `receiver_blocking` that of appendix C, whose thief refuses requests beforehand.
//
// Deviations. The paper updates the status flag "has work" at each push and pop. Here a push does nothing for others:
// the cell is opened when the owner looks up and has something to give (its attention is raised, or has been left
// raised since it declined), and closed when it declines for want of work. A thief waits for an answer for as long as
// idle workers spin, then withdraws the request, which closes the cell, and may sleep; an owner that opens its cell
// wakes a sleeper. Of a bag it gives somebody who is idle something without a request, since it may not look again for
// long. Waiters ask for what was made inside of the task that they wait for. docs/protocols/cells.md.
#pragma once

#include "policy/private_policy.hpp"

namespace filch::detail {

class receiver final : public private_policy {
 public:
  enum class acquiring : std::uint8_t { declining, blocking };

  receiver(std::unique_ptr<victim_selector> victims, std::unique_ptr<join_strategy> joins, acquiring how,
           bool steal_half);

  [[nodiscard]] std::unique_ptr<offer> make_offer() const override;
  void answer(worker& w) noexcept override;

 private:
  void offer_tasks(worker& w) noexcept override;
  steal_result take_task(worker& thief, worker& victim, const lineage* only) noexcept override;
  [[nodiscard]] bool shows_task(const worker& victim, const lineage* only) const noexcept override;

  struct mailbox;
  [[nodiscard]] static mailbox& mailbox_of(const worker& w) noexcept;
  void respond(worker& w, mailbox& box) const noexcept;
  void wait_for_answer(worker& thief, worker& victim, const lineage* only) noexcept;
  void refuse_requests(worker& w) const noexcept;
  static void waited(worker& thief, std::int64_t since_ns) noexcept;

  acquiring how_;
  bool steal_half_;
};

}  // namespace filch::detail
