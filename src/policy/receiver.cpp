#include "policy/receiver.hpp"

#include <utility>

#include "deque/request_cell.hpp"
#include "deque/transfer_cell.hpp"
#include "loop/carve.hpp"
#include "platform/backoff.hpp"
#include "platform/clock.hpp"
#include "worker/interrupter.hpp"
#include "worker/patience.hpp"
#include "worker/sleepers.hpp"
#include "worker/team.hpp"

namespace filch::detail {

using deque::request;
using deque::request_cell;
using deque::transfer_cell;

struct receiver::mailbox final : cells {
  alignas(64) request_cell requests;
  alignas(64) transfer_cell transfer;
};

receiver::receiver(std::unique_ptr<victim_selector> victims, std::unique_ptr<join_strategy> joins, acquiring how,
                   bool steal_half)
    : private_policy(std::move(victims), std::move(joins)), how_(how), steal_half_(steal_half) {}

receiver::mailbox& receiver::mailbox_of(const worker& w) noexcept { return static_cast<mailbox&>(*w.offered); }

std::unique_ptr<offer> receiver::make_offer() const { return std::make_unique<mailbox>(); }

// The paper's `communicate`, and `update_status` with it. Leaves the cell open and attention calm, or the cell closed
// and attention raised: a closed cell says that the owner will look again at its next push or chunk.
void receiver::answer(worker& w) noexcept {
  mailbox& box = mailbox_of(w);
  w.pass_empty();
  bool tried = false;
  bool given = false;
  for (;;) {
    // Before the look at the cell, so that a request which comes after that raises attention again. And each time: to
    // give of a bag may call the program's split(), which may fork, and answer.
    w.calm();
    const request_cell::state seen = box.requests.look();
    if (seen == request_cell::state::asked) {
      respond(w, box);
      continue;
    }
    const surplus has = surplus_of(w, 0);
    if (has && seen == request_cell::state::open) {
      if (!given) return;
      break;
    }
    // A signal handler gives nothing of a bag: who asks in the middle of an item waits for its end. So somebody who is
    // idle already is given something without a request.
    if (!tried && has.loop != nullptr && has.loop->is_bag && w.common.sleepers.anybody()) {
      tried = true;
      given = give_half(w, *has.loop);
      continue;
    }
    if (has) {
      box.requests.open();
      break;
    }
    if (box.requests.close()) {
      w.raise();
      w.note_nothing();
      if (!given) return;
      break;
    }
  }
  w.count(&counters::offers);
  w.common.sleepers.offered(w);
}

void receiver::respond(worker& w, mailbox& box) const noexcept {
  const auto asked = box.requests.claim();
  if (!asked) return;
  transfer_cell& to = mailbox_of(w.common.team[asked->thief]).transfer;
  const surplus has = surplus_of(w, asked->id);
  if (has.tasks != 0) {
    const deque::slot_range tasks = prepare(w, steal_half_ ? half_of(has, to.room()) : 1, asked->thief);
    let_go(w, tasks);
    to.hand_over(tasks);
  } else if (has.loop != nullptr && give_half(w, *has.loop)) {
    w.count(&counters::offers);
    to.hand_over({});
    w.common.sleepers.offered(w);
  } else {
    to.decline();
  }
}

// Then there is nothing to ask for.
void receiver::offer_tasks(worker& w) noexcept {
  private_policy::offer_tasks(w);
  refuse_requests(w);
}

// The paper's `reject`: a request that came first is answered, in the way that the worker always does.
void receiver::refuse_requests(worker& w) const noexcept {
  mailbox& box = mailbox_of(w);
  while (!box.requests.close()) respond(w, box);
  w.raise();
}

steal_result receiver::take_task(worker& thief, worker& victim, const lineage* only) noexcept {
  request_cell& requests = mailbox_of(victim).requests;
  if (!requests.is_open()) return {};
  if (how_ == acquiring::blocking) refuse_requests(thief);
  transfer_cell& mine = mailbox_of(thief).transfer;
  const request what{.thief = thief.number, .id = only == nullptr ? 0 : only->id};
  mine.expect(room_of(thief));
  const std::int64_t since_ns = platform::now_ns();
  if (!requests.put(what)) return {};
  victim.ask();
  wait_for_answer(thief, victim, only);
  if (mine.read().what == transfer_cell::outcome::awaited && requests.withdraw(what)) {
    waited(thief, since_ns);
    return {};
  }
  // Answered; or claimed, and then the answer is a few instructions away.
  transfer_cell::answer got = mine.read();
  for (platform::backoff answering; got.what == transfer_cell::outcome::awaited;) {
    answering.wait();
    got = mine.read();
  }
  waited(thief, since_ns);
  thief.count(&counters::transfer_attempts);
  return got.what == transfer_cell::outcome::handed_over ? received(victim, got.tasks, what.id) : steal_result{};
}

void receiver::waited(worker& thief, std::int64_t since_ns) noexcept {
  thief.count(&counters::transfer_wait_ns, static_cast<std::uint64_t>(platform::now_ns() - since_ns));
}

// Until it is there; or the activation that the thief asks for has ended; or it has taken too long. If the victim may
// be interrupted soon, that is not before it was.
void receiver::wait_for_answer(worker& thief, worker& victim, const lineage* only) noexcept {
  const mailbox& own = mailbox_of(thief);
  patience waiting;
  bool interrupted = false;
  while (own.transfer.read().what == transfer_cell::outcome::awaited) {
    if (only != nullptr && !victim.activations.find(only->id)) return;
    if (how_ == acquiring::declining && own.requests.look() == request_cell::state::asked) answer(thief);
    if (waiting.go_on()) continue;
    // What is due much later this worker comes again for.
    if (interrupted || thief.common.interrupter.due(victim) - platform::now_ns() > patience::spin_ns) return;
    interrupted = thief.common.interrupter.interrupt_if_due(victim);
    // Mostly a few microseconds. But the victim may not be running, for want of this processor.
    if (interrupted) waiting = patience(interrupter::rest_ns);
    platform::yield();
  }
}

bool receiver::shows_task(const worker& victim, const lineage* /*only*/) const noexcept {
  return mailbox_of(victim).requests.is_open();
}

}  // namespace filch::detail
