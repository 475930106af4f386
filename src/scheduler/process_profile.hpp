// The profile that FILCH_PROFILE asks for: of all that the schedulers of the process run, written when it exits.
#pragma once

#include "worker/profile_recorder.hpp"

namespace filch::detail {

/// A scheduler's part of it. If FILCH_PROFILE is not set, nothing happens: schedulers share nothing by it.
class process_profile {
 public:
  [[nodiscard]] static bool is_asked_for() noexcept;

  /// Throws std::invalid_argument when the file cannot be written.
  process_profile();

  [[nodiscard]] bool is_wanted() const noexcept { return is_wanted_; }
  /// Any thread, as the next two. What begins is measured, and not to be lost in silence when the program exits inside of it.
  static void begin_root() noexcept;
  /// It took from then on with all that was done to measure it, which is not outside of tasks.
  static void end_root(std::int64_t since_ns) noexcept;
  /// Roots have ended.
  static void add(const profiled_work& root) noexcept;

 private:
  const bool is_wanted_;
};

}  // namespace filch::detail
