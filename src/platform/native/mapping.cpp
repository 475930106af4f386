#include "platform/mapping.hpp"

#include <new>

#include <sys/mman.h>

namespace filch::platform {

mapping::mapping(std::size_t bytes)
    : data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)),
      bytes_(bytes) {
  if (data_ == MAP_FAILED) throw std::bad_alloc();
  // A huge page would make the first touched byte cost two megabytes. The advice may be refused; it is only advice.
  madvise(data_, bytes_, MADV_NOHUGEPAGE);
}

mapping::~mapping() { munmap(data_, bytes_); }

}  // namespace filch::platform
