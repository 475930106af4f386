// What other workers have given to a worker: a buffer for a task that it is to divide further, and a queue for tasks
// that are its alone (Shiina and Taura 2019, section 4.2.3), whose oldest one has a buffer as well.
//
// Who takes a task out has it: the worker, without a task or in a wait, or instead of it any idle one, where it is not available
// while somebody is blocked (docs/protocols/background.md); a thief; or the giver, who takes it back. Out of a buffer by one compare-and-swap, out of the queue under its lock. What a given task consists of is the giver's,
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
  bool in_waits;           ///< its worker runs it while it waits, too
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

/// Who takes a task out of an inbox: its owner without a task, or who does so instead of it; its owner in a wait; or anybody
/// else.
enum class given_taker : std::uint8_t { idle, waiter, thief };

/// Room for one given task. Whoever changes it to none has the task.
class given_cell {
 public:
  /// Any thread. False: there is one in it.
  [[nodiscard]] bool put(given_task& g) noexcept;
  /// Any thread. Null: there is none that it may take, or it was taken meanwhile.
  [[nodiscard]] given_task* take(given_taker by) noexcept;
  /// The giver. False: it has been taken, or is elsewhere.
  [[nodiscard]] bool take_back(given_task& g) noexcept;

  // [IB2] seq_cst: after [SL3] in the one total order; pairs with [IB1].
  [[nodiscard]] bool has_task(given_taker by) const noexcept {
    return may_take(task_.load(std::memory_order_seq_cst), by);
  }
  /// May a thief's take() find something?
  [[nodiscard]] bool shows_task() const noexcept {
    return may_take(task_.load(std::memory_order_relaxed), given_taker::thief);
  }

 private:
  static constexpr std::uintptr_t stays = 1;
  static constexpr std::uintptr_t in_waits = 2;

  // The address of a task, and in its low bits who may take it: who looks at it may not look at the task.
  static std::byte* address(given_task& g) noexcept {
    static_assert(alignof(given_task) > (stays | in_waits));
    return reinterpret_cast<std::byte*>(&g) + (g.stays ? stays : 0) + (g.in_waits ? in_waits : 0);
  }
  static std::uintptr_t bits_of(const std::byte* at) noexcept {
    return reinterpret_cast<std::uintptr_t>(at) & (stays | in_waits);
  }
  static bool may_take(const std::byte* seen, given_taker by) noexcept {
    if (seen == nullptr || by == given_taker::idle) return seen != nullptr;
    return by == given_taker::waiter ? (bits_of(seen) & in_waits) != 0 : (bits_of(seen) & stays) == 0;
  }

  platform::atomic<std::byte*> task_{nullptr};  ///< none: null
};

class inbox {
 public:
  inbox() = default;
  inbox(const inbox&) = delete;
  inbox& operator=(const inbox&) = delete;

  /// Any thread. `alone`: no thief may take it, because the worker is to divide it further; it is taken before all others.
  void put(given_task& g, bool alone) noexcept;
  /// Owner, or who does so instead of it. Takes the next one, whose state becomes `taken`, which says by whom. Null: there is none.
  [[nodiscard]] given_task* take(std::uint64_t taken) noexcept;
  /// Owner, in a wait. The same, of those that it runs there.
  [[nodiscard]] given_task* take_in_wait(std::uint64_t taken) noexcept;
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
  [[nodiscard]] bool has_task() const noexcept { return has_task_for(given_taker::idle); }
  /// The same, of those that its owner runs in a wait.
  [[nodiscard]] bool has_task_in_wait() const noexcept { return has_task_for(given_taker::waiter); }
  /// The same, or has the owner been told something?
  [[nodiscard]] bool is_filled() const noexcept {
    if (has_task()) return true;
    return is_told_.load(std::memory_order_seq_cst);  // [IB2]
  }

 private:
  enum class queued : std::uint8_t { nothing, not_in_waits, in_waits };

  [[nodiscard]] bool has_task_for(given_taker by) const noexcept {
    if (root_.has_task(by) || first_.has_task(by)) return true;
    const queued seen = queued_.load(std::memory_order_seq_cst);  // [IB2]
    return by == given_taker::waiter ? seen == queued::in_waits : seen != queued::nothing;
  }
  template <class Fits>
  [[nodiscard]] given_task* take_oldest(Fits fits) noexcept;
  void unlink(given_task& g) noexcept;
  void note_what_is_left() noexcept;

  // A giver finds both cells empty nearly always (Theorems 1 and 2), and then changes one word.
  given_cell root_;                                   ///< to be divided further
  given_cell first_;                                  ///< the oldest other one
  platform::atomic<queued> queued_{queued::nothing};  ///< more of them, below
  platform::atomic<bool> is_told_{false};
  platform::atomic<bool> shows_{false};  ///< a hint: the queue has something for steal()
  // Not on the line that the owner looks at all the time.
  alignas(64) platform::mutex mutex_;
  given_task* oldest_ = nullptr;
  given_task* newest_ = nullptr;
  std::size_t in_waits_ = 0;  ///< so many in the queue are run in waits
  steal_range_ref told_;
};

}  // namespace filch::detail
