#include "platform/parker.hpp"

#include <cerrno>
#include <ctime>

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

/// Where the threads of this process may run, as far as anybody knew when the first parker was made: later the thread
/// that is asked for may sleep, bound to one processor.
const cpu_set_t& processors() noexcept {
  static const cpu_set_t all = [] {
    cpu_set_t set;
    if (sched_getaffinity(getpid(), sizeof set, &set) != 0) CPU_ZERO(&set);
    return set;
  }();
  return all;
}

}  // namespace

parker::parker() noexcept { static_cast<void>(processors()); }

void parker::park_until(std::int64_t deadline_ns) noexcept {
  // [PK0] relaxed: only saves the way to sleep; [PK3] acquires.
  if (state_.load(std::memory_order_relaxed) != token) sleep(deadline_ns);
  // [PK3] acquire: what the waker wrote before [PK4] is seen after park.
  state_.exchange(empty, std::memory_order_acquire);
}

void parker::sleep(std::int64_t deadline_ns) noexcept {
  cpu_set_t allowed;
  cpu_set_t here;
  const int processor = sched_getcpu();
  const bool bind = processor >= 0 && processor < CPU_SETSIZE && sched_getaffinity(0, sizeof allowed, &allowed) == 0 &&
                    CPU_COUNT(&allowed) > 1;
  if (bind) {
    CPU_ZERO(&here);
    CPU_SET(static_cast<std::size_t>(processor), &here);
    sched_setaffinity(0, sizeof here, &here);
  }
  thread_.store(current_thread(), std::memory_order_relaxed);
  processor_.store(bind ? processor : -1, std::memory_order_relaxed);
  std::uint32_t seen = empty;
  // [PK1] release: who sleeps where, for the waker ([PK5]).
  if (state_.compare_exchange_strong(seen, parked, std::memory_order_release, std::memory_order_relaxed)) {
    // [PK2] relaxed: only watches for the token; [PK3] acquires.
    while ((seen = state_.load(std::memory_order_relaxed)) != token) {
      if (wait(state_, seen, deadline_ns)) continue;
      seen = parked;
      // [PK6] relaxed: nobody has come, and nothing was left behind. Else somebody is about to leave a token.
      if (state_.compare_exchange_strong(seen, empty, std::memory_order_relaxed, std::memory_order_relaxed)) break;
      deadline_ns = never;
    }
  }
  if (bind) sched_setaffinity(0, sizeof allowed, &allowed);
}

void parker::unpark() noexcept {
  // [PK5] acquire: who sleeps where, from [PK1].
  std::uint32_t seen = state_.load(std::memory_order_acquire);
  for (;;) {
    if (seen == steering) {
      pause();
      seen = state_.load(std::memory_order_acquire);
      continue;
    }
    const int here = seen == parked ? sched_getcpu() : -1;
    const bool steer = here >= 0 && processor_.load(std::memory_order_relaxed) == here;
    // [PK4] release: pairs with [PK3]. acquire, when it fails: as [PK5].
    if (!state_.compare_exchange_weak(seen, steer ? steering : token, std::memory_order_release,
                                      std::memory_order_acquire)) {
      continue;
    }
    if (steer) {
      steer_away(here);
      state_.store(token, std::memory_order_release);  // [PK4]
    }
    if (seen == parked) wake(state_);
    return;
  }
}

void parker::steer_away(int here) const noexcept {
  cpu_set_t elsewhere = processors();
  CPU_CLR(static_cast<std::size_t>(here), &elsewhere);
  // Fails where there is no other processor, and then changes nothing.
  sched_setaffinity(thread_.load(std::memory_order_relaxed), sizeof elsewhere, &elsewhere);
}

}  // namespace filch::platform
