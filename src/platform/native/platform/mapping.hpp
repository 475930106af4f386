// The platform seam: reserved memory that costs nothing until it is touched.
#pragma once

#include <cstddef>

#include "platform/reserve.hpp"

namespace filch::platform {

/// Zeroed, page-aligned address space of the given size; pages appear when they are first touched.
class mapping {
 public:
  /// Throws std::bad_alloc when the address space cannot be reserved.
  explicit mapping(std::size_t bytes) : data_(reserve(bytes)), bytes_(bytes) {}
  ~mapping() { release(data_, bytes_); }
  mapping(const mapping&) = delete;
  mapping& operator=(const mapping&) = delete;
  [[nodiscard]] void* data() const noexcept { return data_; }

 private:
  void* data_;
  std::size_t bytes_;
};

}  // namespace filch::platform
