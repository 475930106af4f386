// The platform seam: time, pauses, and what else is tuned to a real machine.
#pragma once

#include <chrono>
#include <cstdint>
#include <thread>

#include <filch/platform/ticks.hpp>

namespace filch::platform {

/// Monotonic time in nanoseconds.
inline std::int64_t now_ns() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Pauses between two looks at the clock, which costs more than a pause.
inline constexpr std::uint32_t pauses_per_look = 16;

/// How many pushes of a worker that has begun something new are offered at once (policies lace and standard).
constexpr unsigned first_offers() noexcept { return 8; }

/// For so long thieves leave an offer alone whose owner comes back to its offers sooner than that (policy standard).
inline std::uint64_t offer_rest_ticks() noexcept { return ticks_of_a_theft(); }

/// How many of the tasks on offer a thief takes whom `wanted` of them would serve (policy standard).
constexpr std::uint32_t taken_at_once(std::uint32_t wanted, std::uint32_t /*offered*/) noexcept { return wanted; }

/// Tells the processor that this thread is spinning; belongs into every retry loop.
void pause() noexcept;

/// Lets another thread have the processor: for the rare wait that has no one to be woken by.
inline void yield() noexcept { std::this_thread::yield(); }

}  // namespace filch::platform
