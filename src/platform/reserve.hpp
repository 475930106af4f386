// Address space from the system, for the mappings of every platform.
#pragma once

#include <cstddef>

namespace filch::platform {

/// Zeroed, page-aligned address space whose pages appear, and cost memory, when they are first touched.
/// @throws std::bad_alloc when there is none.
void* reserve(std::size_t bytes);
void release(void* at, std::size_t bytes) noexcept;

/// The same as an object.
class reservation {
 public:
  explicit reservation(std::size_t bytes) : data_(reserve(bytes)), bytes_(bytes) {}
  ~reservation() { release(data_, bytes_); }
  reservation(const reservation&) = delete;
  reservation& operator=(const reservation&) = delete;
  [[nodiscard]] void* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  void* data_;
  std::size_t bytes_;
};

}  // namespace filch::platform
