// What other workers have given to a worker: a buffer for a task that it is to divide further, and a queue for tasks
// that are its alone (Shiina and Taura 2019, section 4.2.3), whose oldest one has a buffer as well.
//
// Who takes a task out has it: the worker, or who is in its place while it is blocked; a thief; or the giver, who takes it
// back. Out of a buffer by one compare-and-swap, out of the queue under its lock. What a given task consists of is the giver's,
// which has it until it has joined the task.
#pragma once

#include <cstddef>
#include <cstdint>

#include <filch/detail/task.hpp>
#include <filch/detail/worker_core.hpp>
#include <filch/platform/memory.hpp>

#include "platform/thread.hpp"
#include "worker/steal_range.hpp"

namespace filch::detail {

struct loop_state;
struct piece;
class worker;

struct given_task {
  piece& record;  ///< of the giver's pool: its state is the task's
  worker& giver;
  worker& to;
  task_place place;
  bool stays;              ///< it is neither taken back nor stolen
  steal_range_ref steals;  ///< of the construct; none: nobody steals
  const void* family;      ///< of the construct: the group, or the frame
  slot* s = nullptr;       ///< of the giver's stack; its function is here
  task_function run = nullptr;
  loop_state* whole = nullptr;  ///< instead: iterations of that loop
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::uint64_t parts = 1;      ///< of them, for `to` and the workers after it
  given_task* older = nullptr;  ///< of the giver's that are not joined
  // Under the inbox's lock, in its queue.
  given_task* previous = nullptr;
  given_task* next = nullptr;
  bool in_queue = false;
};

/// Room for one given task. Whoever changes it to none has the task.
class given_cell {
 public:
  /// Any thread. False: there is one in it.
  [[nodiscard]] bool put(given_task& g) noexcept;
  /// Any thread; `may_stay`: also a task that only the owner of the inbox runs. Null: there is none, or it was taken meanwhile.
  [[nodiscard]] given_task* take(bool may_stay) noexcept;
  /// The giver. False: it has been taken, or is elsewhere.
  [[nodiscard]] bool take_back(given_task& g) noexcept;

  // [IB2] seq_cst: after [SL3] in the one total order; pairs with [IB1].
  [[nodiscard]] bool is_filled() const noexcept { return task_.load(std::memory_order_seq_cst) != nullptr; }
  /// May take(false) find something?
  [[nodiscard]] bool shows_task() const noexcept {
    std::byte* const seen = task_.load(std::memory_order_relaxed);
    return seen != nullptr && !stays(seen);
  }

 private:
  // The address of a task, or the one after it if the task stays: who looks at it may not look at the task.
  static std::byte* address(given_task& g) noexcept { return reinterpret_cast<std::byte*>(&g) + (g.stays ? 1 : 0); }
  static bool stays(const std::byte* at) noexcept {
    return reinterpret_cast<std::uintptr_t>(at) % alignof(given_task) != 0;
  }

  platform::atomic<std::byte*> task_{nullptr};  ///< none: null
};

class inbox {
 public:
  inbox() = default;
  inbox(const inbox&) = delete;
  inbox& operator=(const inbox&) = delete;

  /// Any thread. `alone`: nobody else may take it, because the worker is to divide it further; it is taken before all
  /// others.
  void put(given_task& g, bool alone) noexcept;
  /// Owner, or who is in its place. Takes the next one, whose state becomes `taken`, which says by whom. Null: there is none.
  [[nodiscard]] given_task* take(std::uint64_t taken) noexcept;
  /// Any thread. Takes the oldest of those that need not be divided further and do not stay, as take() does.
  [[nodiscard]] given_task* steal(std::uint64_t taken) noexcept;
  /// Any thread. The owner is in that steal range, which has become active.
  void tell(steal_range& active) noexcept;
  /// Owner. What it was told last, and has not looked at.
  [[nodiscard]] steal_range_ref told() noexcept;
  /// Any thread. Is there something for steal()?
  [[nodiscard]] bool shows_task() const noexcept {
    return first_.shows_task() || shows_.load(std::memory_order_relaxed);
  }
  /// The giver. False: the task has been taken.
  [[nodiscard]] bool take_back(given_task& g) noexcept;
  /// Is a task in it? Who looks before it sleeps is not told wrongly.
  [[nodiscard]] bool has_task() const noexcept {
    return root_.is_filled() || first_.is_filled() || queued_.load(std::memory_order_seq_cst);  // [IB2]
  }
  /// The same, or has the owner been told something?
  [[nodiscard]] bool is_filled() const noexcept {
    if (has_task()) return true;
    return is_told_.load(std::memory_order_seq_cst);  // [IB2]
  }

 private:
  void unlink(given_task& g) noexcept;
  void note_what_is_left() noexcept;

  // A giver finds both cells empty nearly always (Theorems 1 and 2), and then changes one word.
  given_cell root_;                       ///< to be divided further
  given_cell first_;                      ///< the oldest other one
  platform::atomic<bool> queued_{false};  ///< more of them, below
  platform::atomic<bool> is_told_{false};
  platform::atomic<bool> shows_{false};  ///< a hint: the queue has something for steal()
  // Not on the line that the owner looks at all the time.
  alignas(64) platform::mutex mutex_;
  given_task* oldest_ = nullptr;
  given_task* newest_ = nullptr;
  steal_range_ref told_;
};

}  // namespace filch::detail
