// The platform seam, part three: a clock that is cheaper than the system's, for spans of which only the order of
// magnitude matters. Its unit is the processor's business.
#pragma once

#include <cstdint>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <chrono>
#endif

namespace filch::platform {

/// Ticks since some time or other. On one thread they do not run backwards.
inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();  // its header would take as long to compile as all of filch's
#elif defined(__aarch64__)
  std::uint64_t now = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(now));
  return now;
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

/// The time now, which has passed when this returns: whoever learns of it, on whatever thread, is told a later one. Where a tick
/// is long, it waits for the end of one (a clock of 24 MHz is usual).
inline std::uint64_t passed_tick() noexcept {
  // A processor may look at its clock before it knows what the thread has been told.
#if defined(__x86_64__)
  __builtin_ia32_lfence();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
  const std::uint64_t now = ticks();
  while (ticks() == now) {  // not "<=": the thread may be on a processor with another clock by now
  }
  return now;
}

/// Ticks of some microseconds: 3 to 8 with processors of today.
inline std::uint64_t ticks_of_some_us() noexcept {
#if defined(__x86_64__)
  return 16'000;
#elif defined(__aarch64__)
  std::uint64_t per_s = 0;
  asm("mrs %0, cntfrq_el0" : "=r"(per_s));
  return per_s / 200'000;
#else
  return 5'000;
#endif
}

/// About what a theft costs the thief's victim: 0.4 to 1 us.
inline std::uint64_t ticks_of_a_theft() noexcept { return ticks_of_some_us() / 8; }

}  // namespace filch::platform
