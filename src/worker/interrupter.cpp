#include "worker/interrupter.hpp"

#include <algorithm>

#include "platform/clock.hpp"
#include "platform/interrupt.hpp"
#include "worker/team.hpp"
#include "worker/worker.hpp"

namespace filch::detail {
namespace {

/// What a thread does that is interrupted.
void answer_interrupt() noexcept {
  // It may have left the scheduler meanwhile. In a task it may have called another scheduler: it is a worker of both.
  for (worker* w = worker::of_this_thread(); w != nullptr; w = w->outer) w->answer_interrupt();
}

}  // namespace

void interrupter::prepare() { platform::handle_interrupts(&answer_interrupt); }

bool interrupter::is_asked(worker& w) noexcept {
  // [IN1] relaxed, all of them: hints. What is wrong about them is an interrupt for nothing, or one that comes later.
  if (w.attention.load(std::memory_order_relaxed) != nullptr) return false;
  // [IN2] release: that it was asked, for the victim if it begins a task after this ([IN3]), and then looks at its
  // first push. Not a load, which might read what held before the victim began the task that it is in.
  bool nothing = true;
  return !w.asked.has_nothing.load(std::memory_order_relaxed) ||
         !w.asked.has_nothing.compare_exchange_strong(nothing, true, std::memory_order_release,
                                                      std::memory_order_relaxed);
}

std::int64_t interrupter::due(worker& victim) const noexcept {
  if (!is_on() || !is_asked(victim)) return never;
  // 0: nobody has asked yet, or this is an old value; then as if it were just now.
  const std::int64_t asked = victim.asked.since_ns.load(std::memory_order_relaxed);
  return std::max((asked == 0 ? platform::now_ns() : asked) + after_ns_,
                  victim.asked.next_interrupt_ns.load(std::memory_order_relaxed));
}

std::int64_t interrupter::earliest(const worker& but) const noexcept {
  std::int64_t first = never;
  if (!is_on()) return first;
  for (std::uint32_t i = 0; i < team_.size(); ++i) {
    if (i != but.number) first = std::min(first, due(team_[i]));
  }
  return first;
}

bool interrupter::interrupt_if_due(worker& victim) noexcept {
  std::int64_t from = victim.asked.next_interrupt_ns.load(std::memory_order_relaxed);  // [IN1]
  const std::int64_t when = due(victim);
  if (when == never) return false;
  const std::int64_t now = platform::now_ns();
  // [IN1] relaxed: of those who want to, one wins.
  if (now < std::max(from, when) || !victim.asked.next_interrupt_ns.compare_exchange_strong(
                                        from, now + rest_ns, std::memory_order_relaxed, std::memory_order_relaxed)) {
    return false;
  }
  return platform::interrupt(victim.interrupt.thread.load(std::memory_order_relaxed));  // [IN1]
}

bool interrupter::interrupt_all_due(const worker& but) noexcept {
  bool any = false;
  if (!is_on()) return any;
  for (std::uint32_t i = 0; i < team_.size(); ++i) {
    if (i != but.number && interrupt_if_due(team_[i])) any = true;
  }
  return any;
}

void interrupter::interrupt_all_asked() noexcept {
  for (std::uint32_t i = 0; i < team_.size(); ++i) {
    if (is_asked(team_[i])) platform::interrupt(team_[i].interrupt.thread.load(std::memory_order_relaxed));  // [IN1]
  }
}

}  // namespace filch::detail
