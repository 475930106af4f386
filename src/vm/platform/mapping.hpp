// The platform seam on the virtual machine: reserved memory that costs nothing until it is touched.
#pragma once

#include <cstddef>

namespace filch::platform {

/// Zeroed. Explorations make and end a scheduler some thousand times in a second, most of which went into asking the system
/// for address space: so some that has been given back is kept. The world forgets the objects in it when it ends.
class mapping {
 public:
  /// @throws std::bad_alloc when there is none.
  explicit mapping(std::size_t bytes);
  ~mapping();
  mapping(const mapping&) = delete;
  mapping& operator=(const mapping&) = delete;
  [[nodiscard]] void* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  void* data_;
  std::size_t bytes_;
};

}  // namespace filch::platform
