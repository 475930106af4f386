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

  /// A root has ended.
  void add(const profiled_work& root);

 private:
  profiled_work all_;
};

}  // namespace filch::detail
