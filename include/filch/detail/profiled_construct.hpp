// What the profile knows of a construct: see worker/profile_recorder.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <filch/config.hpp>

namespace filch::detail {

struct worker_core;

/// The longest chain of what had to come one after the other.
struct profiled_path {
  std::int64_t ns = 0;
  std::uint32_t forks = 0;  ///< in it

  void meet(const profiled_path& other) noexcept {
    ns = std::max(ns, other.ns);
    forks = std::max(forks, other.forks);
  }
};

/// Tasks that are joined together. Nothing unless FILCH_PROFILE is set.
struct profiled_construct {
  profiled_path end;      ///< of its tasks so far
  bool is_open = false;   ///< it has some
  std::size_t frame = 0;  ///< in how many tasks it was opened
  std::size_t begin = 0;  ///< of its part of the graph
};

/// The calling worker's profile, while it exists, has a child of a construct. Nothing if it has no profile.
class FILCH_API profiled_child {
 public:
  explicit profiled_child(profiled_construct* of) noexcept;
  ~profiled_child();
  profiled_child(const profiled_child&) = delete;
  profiled_child& operator=(const profiled_child&) = delete;

 private:
  profiled_construct* of_;
};

/// If the calling worker is profiled, the node of a graph that it begins comes after that path, which is none then: the
/// longest of those that lead there. It would follow the one alone that released it, the last to end.
FILCH_API void begin_profiled_node(profiled_path& longest) noexcept;
/// And the node that it has ended comes before the one that has that path.
FILCH_API void end_profiled_node(profiled_path& of_later) noexcept;

/// Is what the calling worker runs profiled?
[[nodiscard]] FILCH_API bool is_profiled(const worker_core& w) noexcept;

}  // namespace filch::detail
