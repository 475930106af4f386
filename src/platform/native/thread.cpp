#include "platform/thread.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include <sys/resource.h>

#include "platform/affinity.hpp"

namespace filch::platform {

thread::thread(std::size_t stack_bytes, std::function<void()> body, int processor, const std::string& name)
    : body_([processor, name, own = std::move(body)] {
        if (!name.empty()) pthread_setname_np(pthread_self(), name.c_str());
        processor_binding binding;
        binding.begin(processor);
        own();
        binding.end();
      }),
      process_(this_process()) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  if (const affinity_mask* const mask = affinity_mask::before_binding()) mask->give_to(attributes);
  const int error = pthread_create(
      &handle_, &attributes,
      [](void* self) -> void* {
        static_cast<thread*>(self)->body_();
        return nullptr;
      },
      this);
  pthread_attr_destroy(&attributes);
  if (error != 0) throw std::system_error(error, std::generic_category(), "filch: cannot start a worker thread");
}

void thread::join() noexcept { pthread_join(handle_, nullptr); }

bool thread::is_of_this_process() const noexcept { return this_process() == process_; }

std::size_t worker_stack_bytes() noexcept {
  // Waits nest, and the memory of a stack exists only where it was touched.
  constexpr std::size_t least = std::size_t{64} << 20;
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return least;
  return std::max<std::size_t>(least, limit.rlim_cur);
}

unsigned long long random_seed(unsigned long long stream) noexcept {
  // splitmix64 of the stream number: spread out, never zero in practice, the same in every run.
  unsigned long long z = (stream + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return (z ^ (z >> 31)) | 1;
}

}  // namespace filch::platform
