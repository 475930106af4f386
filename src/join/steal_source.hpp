// What a join strategy and the idle loop need of a policy: to take tasks from a given victim.
#pragma once

#include <cstdint>

#include "worker/worker.hpp"

namespace filch::detail {

/// Tasks won by a thief: `count` consecutive slots of the victim's stack from `first` on. Or a piece of a loop, which
/// is only seen so far: it is taken when it is run.
struct steal_result {
  worker* victim = nullptr;
  slot* first = nullptr;
  std::uint32_t count = 0;
  bool kept = false;   ///< several, so short that nobody else is to find them
  bool later = false;  ///< none: what victim has is not to be taken yet
  seen_piece part = {};
  explicit operator bool() const noexcept { return victim != nullptr; }
};

class steal_source {
 public:
  steal_source() = default;
  virtual ~steal_source() = default;
  steal_source(const steal_source&) = delete;
  steal_source& operator=(const steal_source&) = delete;

  /// Tries once to take tasks from victim. With `only`, takes nothing but tasks that activation made, or that were made
  /// inside of it; exact, see docs/protocols/wait.md. Asks the victim for more when there is nothing to take.
  virtual steal_result take(worker& thief, worker& victim, const lineage* only) noexcept = 0;
  /// Tries once to take anything from anybody.
  virtual steal_result take_any(worker& thief) noexcept = 0;
  /// A hint: index one past the task of victim that was taken last.
  [[nodiscard]] virtual std::uint32_t taken_end(const worker& victim) const noexcept = 0;
};

}  // namespace filch::detail
