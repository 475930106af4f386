#include "platform/parker.hpp"

#include <cerrno>
#include <ctime>
#include <limits>

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/clock.hpp"
#include "platform/interrupt.hpp"

namespace filch::platform {
namespace {

static_assert(sizeof(atomic<std::uint32_t>) == sizeof(std::uint32_t), "a futex is the plain word");

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

void wake(atomic<std::uint32_t>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

/// False: it was not woken before the deadline. True may mean anything; the caller looks again.
bool wait(atomic<std::uint32_t>& word, std::uint32_t value, std::int64_t deadline_ns) noexcept {
  constexpr std::int64_t second = 1'000'000'000;
  const timespec until{static_cast<time_t>(deadline_ns / second), static_cast<long>(deadline_ns % second)};
  // This operation, unlike FUTEX_WAIT, takes a point in time, of the clock that now_ns() reads.
  const long error = syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, value,
                             deadline_ns == never ? nullptr : &until, nullptr, FUTEX_BITSET_MATCH_ANY);
  return error == 0 || errno != ETIMEDOUT;
}

cpu_set_t only(int processor) noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(processor), &set);
  return set;
}

cpu_set_t without(int processor, cpu_set_t set) noexcept {
  CPU_CLR(static_cast<std::size_t>(processor), &set);
  return set;
}

/// The affinity mask of a thread; 0: the caller.
bool get_mask(pid_t thread, cpu_set_t& mask) noexcept { return sched_getaffinity(thread, sizeof mask, &mask) == 0; }
void set_mask(pid_t thread, const cpu_set_t& mask) noexcept { sched_setaffinity(thread, sizeof mask, &mask); }

}  // namespace

void parker::park_until(std::int64_t deadline_ns) noexcept {
  // [PK0] relaxed: only saves the way to sleep; [PK3] acquires.
  if (state_.load(std::memory_order_relaxed) != token) sleep(deadline_ns);
  // [PK3] acquire: what the waker wrote before [PK4] is seen after park.
  state_.exchange(empty, std::memory_order_acquire);
}

void parker::sleep(std::int64_t deadline_ns) noexcept {
  bind();
  std::uint32_t seen = empty;
  // [PK1] release: who sleeps where, for the waker ([PK5]).
  if (state_.compare_exchange_strong(seen, parked, std::memory_order_release, std::memory_order_relaxed)) {
    wait_for_token(deadline_ns);
  }
  unbind();
}

void parker::wait_for_token(std::int64_t deadline_ns) noexcept {
  for (;;) {
    // [PK2] acquire: whether it was steered, from [PK4]. While a waker is steering, the thread stays: else it would be
    // bound when it does not expect it.
    std::uint32_t seen = state_.load(std::memory_order_acquire);
    if ((seen & (token | steering)) == token) return;
    if (wait(state_, seen, deadline_ns)) continue;
    seen = parked;
    // [PK6] relaxed: nobody has come, and nothing was left behind. Else somebody is about to leave a token.
    if (state_.compare_exchange_strong(seen, empty, std::memory_order_relaxed, std::memory_order_relaxed)) return;
    deadline_ns = never;
  }
}

void parker::bind() noexcept {
  processor_.store(-1, std::memory_order_relaxed);
  if (!binds_) return;
  const int processor = sched_getcpu();
  cpu_set_t allowed;
  if (processor < 0 || processor >= CPU_SETSIZE || !get_mask(0, allowed) || CPU_COUNT(&allowed) < 2) return;
  set_mask(0, only(processor));
  allowed_.store(allowed);
  steered_.store(false);
  thread_.store(current_thread(), std::memory_order_relaxed);
  processor_.store(processor, std::memory_order_relaxed);
}

void parker::unbind() noexcept {
  const int processor = processor_.load(std::memory_order_relaxed);
  cpu_set_t now;
  if (processor < 0 || !get_mask(0, now)) return;
  const cpu_set_t allowed = allowed_.load();
  const cpu_set_t bound = steered_.load() ? without(processor, allowed) : only(processor);
  // Any other mask was given to the thread by somebody else while it slept.
  if (CPU_EQUAL(&now, &bound)) set_mask(0, allowed);
}

void parker::unpark() noexcept {
  // [PK5] acquire: who sleeps where, from [PK1].
  std::uint32_t seen = state_.load(std::memory_order_acquire);
  for (;;) {
    const int here = seen == parked ? sched_getcpu() : -1;
    const bool steer = here >= 0 && processor_.load(std::memory_order_relaxed) == here;
    // [PK4] release: pairs with [PK3]. acquire: as [PK5], also when it succeeds, since the sleeper may have got up and
    // fallen asleep again since the look, and have said anew where.
    if (state_.compare_exchange_weak(seen, steer ? parked | steering : seen | token, std::memory_order_acq_rel,
                                     std::memory_order_acquire)) {
      if (!steer) break;
      steer_away();
      // Somebody else may have left a token meanwhile, perhaps a handler on this thread.
      // [PK4] release.
      state_.exchange(parked | token, std::memory_order_release);
      break;
    }
  }
  // The sleeper of a waker that is steering is woken by that one.
  if (seen == parked) wake(state_);
}

void parker::steer_away() noexcept {
  const pid_t sleeper = thread_.load(std::memory_order_relaxed);
  const int processor = processor_.load(std::memory_order_relaxed);
  const cpu_set_t here = only(processor);
  cpu_set_t now;
  // Any other mask was given to it by somebody else.
  if (!get_mask(sleeper, now) || !CPU_EQUAL(&now, &here)) return;
  steered_.store(true);
  set_mask(sleeper, without(processor, allowed_.load()));
}

}  // namespace filch::platform
