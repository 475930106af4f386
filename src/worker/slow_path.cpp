// The slow paths of push and join: what the inlined fast path of worker_core.hpp calls when it may not go on.
#include "worker/slow_path.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>

#include <filch/detail/division.hpp>

#include "worker/policy.hpp"

namespace filch::detail {

constinit worker_core foreign_worker{};
constinit thread_local worker_core* self = &foreign_worker;

void answer(worker& w) noexcept {
  if (!w.must_attend(nullptr)) return;
  w.forget_interrupts();
  w.common.policy.answer(w);
}

void attend(worker_core& core) noexcept {
  auto& w = static_cast<worker&>(core);
  const busy_section here(w);
  answer(w);  // unless an interrupt has done so meanwhile
}

void push_attending(worker_core& w, slot& s) noexcept {
  platform::signal_fence();
  w.head.store(&s + 1);
  if (w.must_attend(nullptr)) attend(w);
}

join_result join_in_place(worker& w, slot& s, siblings* others) noexcept {
  return w.common.policy.reclaim(w, s) ? join_result::reclaimed : wait_for(w, s, nullptr, others);
}

run_result run_joined(task& /*t*/, run_by /*who*/) { return run_result::done; }

run_result run_in_use(task& /*t*/, run_by /*who*/) {
  // Another body than run_joined has: functions are told apart by their addresses.
  static_cast<void>(self->head.load());
  return run_result::done;
}

join_result join_newest(worker& w, slot& s, siblings* others) noexcept {
  if (w.split.load() <= &s) {
    w.head.store(&s);
    return join_result::reclaimed;
  }
  w.head.store(&s + 1);
  const join_result how = join_in_place(w, s, others);
  if (w.split.load() <= &s) {
    w.head.store(&s);
  } else {
    w.common.policy.rejoin(w, s);
  }
  return how;
}

namespace {

/// The fast path has put head on a slot. Puts it above the newest that is not joined. True: that is this slot.
bool find_head_again(worker& w, slot& s) noexcept {
  slot* head = std::max(&s + 1, w.split.load());
  if (w.groups.newest_block.load() > &s) head = std::max(head, w.groups.block_end);
  w.head.store(head);
  drop_joined_above(w, &s + 1);
  return w.head.load() == &s + 1;
}

}  // namespace

bool is_mostly_joined(const worker_core& w) noexcept {
  // Whoever finds the stack full asks this for each task, so some slots stand for all.
  constexpr std::ptrdiff_t samples = 16;
  const slot* const floor = w.inner.floor;
  const std::ptrdiff_t size = w.head.load() - floor;
  std::ptrdiff_t joined = 0;
  for (std::ptrdiff_t i = 0; i < samples && size != 0; ++i) {
    if (floor[size * i / samples].run.load() == &run_joined) ++joined;
  }
  return joined > samples / 2;
}

void drop_joined(worker_core& core) noexcept {
  auto& w = static_cast<worker&>(core);
  const busy_section here(w);
  drop_joined_above(w, w.inner.floor);
}

join_result join_guarded(worker_core& core, slot& s) noexcept {
  auto& w = static_cast<worker&>(core);
  const busy_section here(w);
  const bool is_newest = find_head_again(w, s);
  if (is_left(s)) {
    const join_result how = join_given(w, s);
    leave_given(w, s);
    return how;
  }
  if (is_newest) return join_newest(w, s);
  const join_result how = w.split.load() > &s ? join_in_place(w, s) : join_result::reclaimed;
  leave_joined(w, s);
  return how;
}

bool regain(worker_core& core, slot& s) noexcept {
  auto& w = static_cast<worker&>(core);
  const busy_section here(w);
  if (!find_head_again(w, s)) return false;
  join_newest(w, s);  // at most a thief has run the empty task
  return true;
}

void settle(worker_core& core, slot* base) noexcept {
  auto& w = static_cast<worker&>(core);
  const busy_section here(w);
  drop_joined_above(w, base);
  assert(w.head.load() == base);
}

join_result abandon(worker_core& w, slot& s) noexcept {
  w.head.store(&s);
  platform::signal_fence();
  return w.guard.load() > &s || is_left(s) ? join_guarded(w, s) : join_result::reclaimed;
}

}  // namespace filch::detail
