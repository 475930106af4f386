#include "deep_stacks.hpp"

#include <algorithm>
#include <system_error>

#include <pthread.h>
#include <sys/resource.h>

namespace filch::bench {
namespace {

void check(int error, const char* what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

// Of the main thread, which grows up to the limit of the process at that moment. Returns the limit in force.
std::size_t raise_limit_of_main_thread() {
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0) return 0;
  if (limit.rlim_cur < deep_stacks::size_bytes) {
    limit.rlim_cur = std::min<rlim_t>(deep_stacks::size_bytes, limit.rlim_max);
    // Where it is refused, stacks stay as they are, and what is too deep for them says so.
    setrlimit(RLIMIT_STACK, &limit);
    getrlimit(RLIMIT_STACK, &limit);
  }
  return limit.rlim_cur == RLIM_INFINITY ? 0 : limit.rlim_cur;
}

// Of threads started from now on without a size of their own. Returns it.
std::size_t raise_size_of_new_threads() {
  const std::size_t size_bytes = std::max(raise_limit_of_main_thread(), deep_stacks::size_bytes);
  pthread_attr_t defaults;
  check(pthread_getattr_default_np(&defaults), "pthread_getattr_default_np");
  const int error = pthread_attr_setstacksize(&defaults, size_bytes);
  check(error != 0 ? error : pthread_setattr_default_np(&defaults), "pthread_setattr_default_np");
  pthread_attr_destroy(&defaults);
  return size_bytes;
}

}  // namespace

deep_stacks::deep_stacks()
    : tbb_threads_(oneapi::tbb::global_control::thread_stack_size, raise_size_of_new_threads()) {}

}  // namespace filch::bench
