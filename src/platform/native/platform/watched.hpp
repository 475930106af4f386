// The platform seam: schedulers that another process may look at, by reading this one's memory (filch/watched.hpp).
#pragma once

#include <cstddef>

#include <filch/watched.hpp>

namespace filch::platform {

/// A scheduler in the process's table, for as long as this lasts. Beyond most_watched none are added. Any thread.
class watched_entry {
 public:
  static constexpr std::size_t most_watched = 256;

  /// All of it but magic, process and number is said.
  explicit watched_entry(const watched::scheduler& what) noexcept;
  ~watched_entry();
  watched_entry(const watched_entry&) = delete;
  watched_entry& operator=(const watched_entry&) = delete;

 private:
  watched::scheduler what_;
  std::size_t index_ = 0;
};

}  // namespace filch::platform
