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

/// The same, and not before what the calling thread has seen: a processor may look at its clock early. So nobody sees a
/// smaller number who knows, from whatever thread, that this clock had shown it. Costs some nanoseconds more.
inline std::uint64_t ticks_in_order() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_lfence();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
  return ticks();
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

}  // namespace filch::platform
