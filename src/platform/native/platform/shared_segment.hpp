// The platform seam: memory that processes of one machine share. It has no name in the file system, so nothing is left of
// it when they end, however they end: others find it through the process that has made it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace filch::platform {

class shared_segment {
 public:
  /// What another process needs to find it. A number drawn by lot tells it from those of other machines.
  struct key {
    std::int64_t process;
    std::int64_t file;
    std::uint64_t number;
  };

  /// Makes one, full of zeros.
  explicit shared_segment(std::size_t bytes) noexcept;
  /// That of another process, which still has it.
  shared_segment(const key& of, std::size_t bytes) noexcept;
  ~shared_segment();
  shared_segment(const shared_segment&) = delete;
  shared_segment& operator=(const shared_segment&) = delete;

  /// At the start of a page; null if there is none: the system has no memory, or the process that made it is on another
  /// machine, in another name space of processes, or of another user.
  [[nodiscard]] void* data() const noexcept { return data_; }
  [[nodiscard]] const key& found_by() const noexcept { return key_; }

 private:
  void map() noexcept;

  std::size_t bytes_;
  int file_ = -1;
  void* data_ = nullptr;
  key key_{};
};

}  // namespace filch::platform
