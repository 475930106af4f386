// The trace of a repeated part of a program (Lifflander, Krishnamoorthy and Kale 2014): which worker ran which task, of
// those that another worker than their parent's ran. docs/protocols/constrained.md.
//
// A task is named by its path in the tree of the part's tasks: the name of its parent, and its number among the parent's
// children in the order of the program. So where it ran says nothing about its name. Names are hashes; two tasks with
// the same name run at the same place.
//
// Invariants
//  1. All tasks of an iteration have been joined when it ends. So nothing is read or noted before begin() or after end().
//  2. The table does not change during an iteration. A worker notes in its own log; the joins order that before end().
//
// Thread safety: begin(), end() and forget() any thread; the others who runs a task of the iteration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <filch/detail/worker_core.hpp>

#include "platform/thread.hpp"

namespace filch::detail {

class worker;

class task_trace {
 public:
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};
  static constexpr std::uint32_t by_root = nobody - 1;
  /// Who ran which task, where that was another worker than its parent's.
  struct placement {
    std::uint64_t task = 0;
    std::uint32_t by = nobody;
  };

  /// `places_loops`: of a schedule that is recorded or replayed; parts of loops are tasks of it, too.
  explicit task_trace(unsigned relaxed_iterations, bool places_loops = false) noexcept
      : relaxed_(relaxed_iterations), places_loops_(places_loops) {}

  /// The calling worker begins an iteration, all of whose C++ frames are below that address. False: one is in progress.
  [[nodiscard]] bool begin(const worker& root, const void* frame) noexcept;
  /// The iteration has ended, and counts unless it failed.
  void end(bool failed) noexcept;
  void forget() noexcept;

  /// After begin(): the iteration is strict, and follows these.
  void follow(const std::vector<placement>& recorded);
  /// After end(): what was recorded last.
  [[nodiscard]] std::vector<placement> recorded() const;
  [[nodiscard]] bool places_loops() const noexcept { return places_loops_; }

  /// Is there a trace that the iteration follows? The first one makes it.
  [[nodiscard]] bool is_followed() const noexcept { return strict_ || iterations_ != 0; }
  /// Tasks run where the trace says, and nowhere else.
  [[nodiscard]] bool is_strict() const noexcept { return strict_; }
  /// The worker that is to run the task. Null: the one that makes it.
  [[nodiscard]] worker* place_of(std::uint64_t task, const worker& maker) const noexcept;
  /// That worker runs the task, and another one its parent.
  void note(std::uint64_t task, const worker& by) noexcept;
  /// Was the group, on the C++ stack of what the worker runs, made in the iteration? Others outlive it.
  [[nodiscard]] bool contains(const void* group, const worker_core& by) const noexcept;

  [[nodiscard]] static constexpr std::uint64_t root() noexcept { return 1; }
  [[nodiscard]] static constexpr std::uint64_t child(std::uint64_t parent, std::uint64_t number) noexcept {
    std::uint64_t x = parent + (number + 1) * 0x9E3779B97F4A7C15ULL;  // the finalizer of splitmix64
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
  }

 private:
  struct alignas(64) log {
    std::vector<placement> entries;
  };
  void follow_logs();
  void add_to_table(const placement& noted) noexcept;
  void clear() noexcept;

  const unsigned relaxed_;
  const bool places_loops_;
  platform::mutex mutex_;  ///< for the next two
  bool running_ = false;
  bool forgotten_ = false;
  // Of who has begun the iteration.
  const scheduler_core* home_ = nullptr;
  unsigned iterations_ = 0;  ///< that count
  bool strict_ = false;
  const worker* root_ = nullptr;
  const void* activation_ = nullptr;  ///< of the root's worker, that the iteration is in
  const void* frame_ = nullptr;
  std::vector<placement> table_;  ///< open addressing; empty, or a power of two
  std::vector<log> logs_;         ///< by worker; a guest that is the root has the first
};

}  // namespace filch::detail
