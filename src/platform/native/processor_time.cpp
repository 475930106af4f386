#include "platform/processor_time.hpp"

#include <ctime>

#include <sys/resource.h>

namespace filch::platform {

processor_time time_of_this_thread() noexcept {
  // The time that getrusage tells lags behind.
  timespec had{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &had);
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  return {had.tv_sec * std::int64_t{1'000'000'000} + had.tv_nsec, static_cast<std::uint64_t>(used.ru_nvcsw)};
}

}  // namespace filch::platform
