#include "policy/chase_lev.hpp"

#include <new>

#include "deque/ring_deque.hpp"
#include "worker/sleepers.hpp"

namespace filch::detail {

struct chase_lev::ring final : offer {
  deque::ring_deque<slot> deque;
  // Nothing to do: an entry is taken by moving the deque's top, which never has the same value twice.
  void activation_ended() noexcept override {}
};

chase_lev::ring& chase_lev::ring_of(const worker& w) noexcept { return static_cast<ring&>(*w.offered); }

std::unique_ptr<offer> chase_lev::make_offer() const { return std::make_unique<ring>(); }

void chase_lev::answer(worker& w) noexcept {
  slot* const head = w.head.load();
  if (w.split.load() >= head) return;
  auto& deque = ring_of(w).deque;
  try {
    for (w.pass_empty(); w.split.load() < head; w.pass_empty()) {
      slot* const s = w.split.load();
      s->state.store(task_state{}.pack(), std::memory_order_relaxed);  // [TS0]
      deque.push(s);
      w.set_split(s + 1);
    }
  } catch (const std::bad_alloc&) {
    // No memory for a larger ring: the rest stays private, which is correct and only less parallel.
  }
  w.count(&counters::offers);
  w.common.sleepers.offered(w);
}

bool chase_lev::reclaim(worker& w, slot& s) noexcept {
  auto& deque = ring_of(w).deque;
  while (w.split.load() > &s) {
    slot* const newest = deque.pop();
    if (newest == nullptr) return false;
    w.set_split(newest);
  }
  return true;
}

void chase_lev::rejoin(worker& w, slot& s) noexcept {
  w.head.store(&s);
  w.set_split(&s);
}

steal_result chase_lev::take_task(worker& /*thief*/, worker& victim, const lineage* only) noexcept {
  auto& deque = ring_of(victim).deque;
  const auto seen = deque.oldest();
  // The entry was read before the activation is found to be active: so the task was made in it, or inside of it.
  if (seen.item == nullptr || !may_take(victim, victim.index_of(seen.item), only)) return {};
  if (!deque.take(seen)) return {};
  return {.victim = &victim, .first = seen.item, .count = 1};
}

bool chase_lev::shows_task(const worker& victim, const lineage* only) const noexcept {
  const auto seen = ring_of(victim).deque.oldest();
  return seen.item != nullptr && may_take(victim, victim.index_of(seen.item), only);
}

std::uint32_t chase_lev::taken_end(const worker& victim) const noexcept {
  const slot* const last = ring_of(victim).deque.last_taken();
  return last == nullptr ? 0 : victim.index_of(last) + 1;
}

}  // namespace filch::detail
