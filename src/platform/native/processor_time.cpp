#include "platform/processor_time.hpp"

#include <ctime>
#include <utility>

#include <pthread.h>
#include <sys/resource.h>

namespace filch::platform {
namespace {

std::int64_t nanoseconds(const timespec& of) { return of.tv_sec * std::int64_t{1'000'000'000} + of.tv_nsec; }

}  // namespace

processor_time time_of_this_thread() noexcept {
  // The time that getrusage tells lags behind.
  timespec had{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &had);
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  return {nanoseconds(had), static_cast<std::uint64_t>(used.ru_nvcsw)};
}

void processor_clock::begin_on_this_thread() noexcept {
  clockid_t of = of_nobody;
  // relaxed: a clock by itself, nothing else depends on it.
  if (pthread_getcpuclockid(pthread_self(), &of) == 0) of_.store(of, std::memory_order_relaxed);
}

std::int64_t processor_clock::had_since_last_look() noexcept {
  const clockid_t of = of_.load(std::memory_order_relaxed);  // as above
  timespec had{};
  if (of == of_nobody || clock_gettime(of, &had) != 0) return 0;
  const std::int64_t now_ns = nanoseconds(had);
  const std::int64_t before_ns = std::exchange(last_ns_, now_ns);
  return std::exchange(looked_at_, of) == of ? now_ns - before_ns : 0;
}

}  // namespace filch::platform
