// The profile of what threads outside have run of a group: roots beside each other, joined where the group is waited for.
#pragma once

#include <cstdint>

#include "worker/profile_recorder.hpp"

namespace filch::detail {

/// Not thread-safe.
class group_profile {
 public:
  group_profile();
  /// Joins them, as one root of the process's profile.
  ~group_profile();
  group_profile(const group_profile&) = delete;
  group_profile& operator=(const group_profile&) = delete;

  /// A root has ended, which took so long with all that was measured.
  void add(const profiled_work& root, std::int64_t elapsed_ns);

 private:
  profiled_work all_;
  std::int64_t elapsed_ns_ = 0;
};

}  // namespace filch::detail
