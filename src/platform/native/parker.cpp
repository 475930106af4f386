#include "platform/parker.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace filch::platform {
namespace {

static_assert(sizeof(atomic<std::uint32_t>) == sizeof(std::uint32_t), "a futex is the plain word");

void futex(atomic<std::uint32_t>& word, int operation, std::uint32_t value) noexcept {
  // The results do not matter: a wait that returns early is repeated by its caller's loop.
  syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

}  // namespace

void parker::park() noexcept {
  std::uint32_t seen = empty;
  // [PK1] relaxed: the token is acquired by the exchange below, whichever way it came.
  if (state_.compare_exchange_strong(seen, parked, std::memory_order_relaxed, std::memory_order_relaxed)) {
    // [PK2] relaxed: only watches for the change; [PK3] acquires.
    while (state_.load(std::memory_order_relaxed) == parked) futex(state_, FUTEX_WAIT_PRIVATE, parked);
  }
  // [PK3] acquire: what the waker wrote before [PK4] is seen after park.
  state_.exchange(empty, std::memory_order_acquire);
}

void parker::unpark() noexcept {
  // [PK4] release: pairs with [PK3].
  if (state_.exchange(token, std::memory_order_release) == parked) futex(state_, FUTEX_WAKE_PRIVATE, 1);
}

}  // namespace filch::platform
