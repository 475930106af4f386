// What each place shows the others without being asked: how many tasks it has, and, for baseline stealing, which thief
// has occupied it (docs/protocols/success-only.md).
//
// Three kinds: memory that the places of one host share, one-sided operations of MPI, and messages, which need the
// other place's attention. One-sided operations may take as long as the other place does not enter MPI; so a question
// may have no answer yet, and is asked again.
//
// Thread safety: one thread at a time, the one that looks at the network, calls any of it.
#pragma once

#include <optional>

namespace filch::detail::places {

struct message;

class load_board {
 public:
  /// Load of a place that looks for tasks itself.
  static constexpr int hunting = -1;
  static constexpr int nobody = -1;

  load_board() = default;
  virtual ~load_board() = default;
  load_board(const load_board&) = delete;
  load_board& operator=(const load_board&) = delete;

  /// Shows this place's load: its tasks, or `hunting`.
  virtual void publish(int load) = 0;
  /// The load that the place has shown last, or a moment ago. Nothing: not known yet; ask again, the same place, before
  /// anything else is asked.
  [[nodiscard]] virtual std::optional<int> read(int place) = 0;

  // Baseline: Algorithm 1, lines 10 to 13, and Algorithm 2, lines 11 to 15.

  /// Takes that place's lock. False: another thief has it. Nothing: not known yet; ask again.
  [[nodiscard]] virtual std::optional<bool> try_lock(int place) = 0;
  /// Whoever has the lock shows that it waits.
  virtual void set_thief(int place) = 0;
  /// Whoever has the lock gives it back.
  virtual void unlock(int place) = 0;
  /// Which place waits for tasks of this one, or `nobody`.
  [[nodiscard]] virtual int thief() = 0;
  /// That one has been answered.
  virtual void clear_thief() = 0;

  /// For boards that are made of messages: is the message the board's? Then it has been dealt with.
  virtual bool handle(const message& /*m*/) { return false; }
};

}  // namespace filch::detail::places
