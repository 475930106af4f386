#include "policy/private_policy.hpp"

#include <algorithm>
#include <utility>

#include "loop/carve.hpp"
#include "worker/kept_tasks.hpp"
#include "worker/stand_in.hpp"
#include "worker/team.hpp"

namespace filch::detail {

private_policy::cells& private_policy::cells_of(const worker& w) noexcept { return static_cast<cells&>(*w.offered); }

bool private_policy::reclaim(worker& /*w*/, slot& /*s*/) noexcept { return false; }

void private_policy::rejoin(worker& w, slot& s) noexcept {
  w.head.store(&s);
  w.set_split(&s);
  cells_of(w).handed_end.store(w.index_of(&s), std::memory_order_relaxed);  // [PV1]
}

void private_policy::offer_tasks(worker& w) noexcept {
  slot* const end = w.head.load();
  slot* first = w.split.load();
  if (first >= end) return;
  // As if so many workers, itself among them, had taken several each. What there is no memory for it takes back.
  const std::uint64_t batched = task_state{.status = task_status::batched, .thief = w.number, .id = w.new_id()}.pack();
  // [TS8] relaxed: handed over with the slots through a queue.
  for (slot* s = first; s != end; ++s) s->state.store(batched, std::memory_order_relaxed);
  let_go(w, {.first = w.index_of(first), .count = static_cast<std::uint32_t>(end - first)});
  const std::ptrdiff_t workers = w.common.team.size();
  const std::ptrdiff_t each = (end - first + workers - 1) / workers;
  while (first != end) {
    slot* const until = first + std::min(each, end - first);
    kept_tasks row(w, {.first = std::exchange(first, until), .end = until, .owner = &w, .state = batched});
    share_kept(w);
  }
}

std::uint32_t private_policy::taken_end(const worker& victim) const noexcept {
  return cells_of(victim).handed_end.load(std::memory_order_relaxed);  // [PV1]
}

private_policy::surplus private_policy::surplus_of(const worker& w, std::uint64_t id) noexcept {
  std::uint32_t base = 0;
  if (id != 0) {
    const auto active = w.activations.find(id);
    if (!active) return {};
    base = *active;
  }
  const slot* const head = w.head.load();
  const slot* const split = w.split.load();
  const std::uint32_t tasks = split < head && w.index_of(split) >= base ? static_cast<std::uint32_t>(head - split) : 0;
  work_share* const loop = giver(w, giving_order::oldest, id);
  if (loop != nullptr && (tasks == 0 || loop->head <= split)) return {.tasks = 0, .loop = loop};
  return {.tasks = tasks, .loop = nullptr};
}

deque::slot_range private_policy::prepare(worker& w, std::uint32_t count, std::uint16_t to) noexcept {
  const std::uint32_t first = w.index_of(w.split.load());
  for (std::uint32_t i = first; i < first + count; ++i) {
    // [TS0] relaxed: handed over with the slot.
    w.base[i].state.store(task_state{.thief = to}.pack(), std::memory_order_relaxed);
  }
  return {.first = first, .count = count};
}

void private_policy::let_go(worker& w, deque::slot_range tasks) noexcept {
  const std::uint32_t end = tasks.first + tasks.count;
  w.set_split(w.base + end);
  cells_of(w).handed_end.store(end, std::memory_order_relaxed);  // [PV1]
  for (std::uint32_t i = 0; i < tasks.count; ++i) w.count(&counters::migrations);
}

std::uint32_t private_policy::half_of(const surplus& has, std::uint32_t room) noexcept {
  return std::min((has.tasks + 1) / 2, room + 1);
}

std::uint32_t private_policy::room_of(const worker& w) noexcept {
  return static_cast<std::uint32_t>(w.end - w.head.load());
}

steal_result private_policy::received(worker& from, deque::slot_range what, std::uint64_t id) noexcept {
  if (what.count != 0) return {.victim = &from, .first = from.base + what.first, .count = what.count};
  // Anybody may have taken the piece by now. That this one is inside of the activation follows as in take().
  const seen_piece part = from.pieces.oldest(id);
  if (!part || (id != 0 && !from.activations.find(id))) return {};
  return {.victim = &from, .part = part};
}

}  // namespace filch::detail
