#include "platform/reserve.hpp"

#include <new>

#include <sys/mman.h>

namespace filch::platform {

void* reserve(std::size_t bytes) {
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  // A huge page would make the first touched byte cost two megabytes. The advice may be refused; it is only advice.
  madvise(at, bytes, MADV_NOHUGEPAGE);
  return at;
}

void release(void* at, std::size_t bytes) noexcept { munmap(at, bytes); }

}  // namespace filch::platform
