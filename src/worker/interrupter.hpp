// When a worker that does not look is interrupted: docs/protocols/interrupt.md.
//
// Owners look at their attention word at each push, at each join and between the chunks of a loop. Whoever is in a long
// task does none of that. A worker that has asked it for work, and has waited for long enough, interrupts its thread,
// which answers from a signal handler.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>
#include <limits>

namespace filch::detail {

class team;
class worker;

class interrupter {
 public:
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  /// A worker is interrupted once in that time at most, unless it gives something.
  static constexpr std::int64_t rest_ns = 1'000'000;

  /// `after_ns`: how long somebody who asks waits for an answer before; 0: for ever.
  interrupter(team& everybody, std::int64_t after_ns) noexcept : team_(everybody), after_ns_(after_ns) {}
  /// Makes threads of this process answer when they are interrupted. @throws std::system_error.
  static void prepare();

  /// May it interrupt anybody at all?
  [[nodiscard]] bool is_on() const noexcept { return after_ns_ != 0; }
  /// From when on that worker may be interrupted: it was asked, has not looked since, and may have something to give;
  /// `never` if that is not so.
  [[nodiscard]] std::int64_t due(worker& victim) const noexcept;
  /// The earliest time for any worker but this one.
  [[nodiscard]] std::int64_t earliest(const worker& but) const noexcept;
  /// Interrupts the worker if it is time to. Whether it did.
  bool interrupt_if_due(worker& victim) noexcept;
  /// The same for all but this one. Whether it interrupted any.
  bool interrupt_all_due(const worker& but) noexcept;
  /// Interrupts all that were asked and may have something to give, whatever the time.
  void interrupt_all_asked() noexcept;

 private:
  [[nodiscard]] static bool is_asked(worker& w) noexcept;

  team& team_;
  std::int64_t after_ns_;
};

}  // namespace filch::detail
