#include "stack_space.hpp"

#include <cstdint>
#include <system_error>

#include <pthread.h>

namespace filch::bench {
namespace {

void check(int error, const char* what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

}  // namespace

std::size_t remaining_stack_bytes() {
  pthread_attr_t attributes;
  check(pthread_getattr_np(pthread_self(), &attributes), "pthread_getattr_np");
  void* lowest = nullptr;
  std::size_t size_bytes = 0;
  const int error = pthread_attr_getstack(&attributes, &lowest, &size_bytes);
  pthread_attr_destroy(&attributes);
  check(error, "pthread_attr_getstack");
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return here - reinterpret_cast<std::uintptr_t>(lowest);
}

}  // namespace filch::bench
