// Threads that compute in the places of workers whose threads are blocked: docs/protocols/background.md.
//
// A thread is blocked that sleeps outside of filch (filch/blocking.hpp). One that sleeps in a wait of a scheduler is blocked
// as far as the schedulers around that one are concerned: what it waits for may need a thread of theirs.
//
// While any worker is blocked, a thread has to be available, that is, neither blocked nor asleep in a wait: what all wait for
// may be a task that nobody has begun. So who blocks gets a stand-in, and who falls asleep as the last one gets one as well.
#pragma once

#include <cstdint>

#include <filch/platform/memory.hpp>

namespace filch::detail {

struct common_parts;
class worker;

/// A thread that has begun in a worker's place.
class stand_in {
 public:
  /// Any thread, once: its place is the worker's again.
  virtual void end() noexcept = 0;

 protected:
  ~stand_in() = default;
};

class stand_ins {
 public:
  /// Any thread. One begins in that worker's place, until its end(). Null: there is none to be had.
  virtual stand_in* begin(worker& blocked) noexcept = 0;
  /// Owner. The tasks that it has taken and not begun are for everybody from now on, as far as there is memory for that.
  virtual void hand_over_kept(worker& from) noexcept = 0;

  // [SP6] seq_cst, here and in what a worker says of itself: of two that are available no longer, one sees the other.
  /// Any thread. Is any worker blocked?
  [[nodiscard]] bool are_needed() const noexcept { return blocked_.load(std::memory_order_seq_cst) != 0; }
  /// Any thread. Has one begun that is no worker yet?
  [[nodiscard]] bool one_comes() const noexcept { return coming_.load(std::memory_order_seq_cst) != 0; }
  /// Owner, once it has said that it is blocked. Was nobody else?
  // [SP7] seq_cst: as [SP6], and publishes what the worker has said of itself. No exploration catches acquire and release alone,
  // nor release: the lock of the stand-ins comes before the look who is available.
  bool count_blocked() noexcept { return blocked_.fetch_add(1, std::memory_order_seq_cst) == 0; }
  // relaxed: who sees it late looks for nothing.
  void count_unblocked() noexcept { blocked_.fetch_sub(1, std::memory_order_relaxed); }

 protected:
  ~stand_ins() = default;
  void count_coming() noexcept { coming_.fetch_add(1, std::memory_order_relaxed); }
  // [SP8] seq_cst: before it is available no longer ([SP6]), for whoever is so later. No exploration catches this: the lock comes
  // before that under which it got its number.
  void count_come() noexcept { coming_.fetch_sub(1, std::memory_order_seq_cst); }

 private:
  platform::atomic<std::uint32_t> blocked_{0};  ///< workers
  platform::atomic<std::uint32_t> coming_{0};
};

/// Any thread, once a worker has said that it is available no longer. Is there no other thread, nor does one come, in the
/// scheduler of that worker, while any worker is blocked? Looks at all of them.
[[nodiscard]] bool nobody_is_available(const worker& of) noexcept;

/// Any thread. While any worker is blocked: one that is not available and was given something, which anybody may run then. Null:
/// there is none. Whoever looks before it sleeps is not told wrongly.
[[nodiscard]] worker* with_open_inbox(const common_parts& common) noexcept;

/// Any thread. All who are asleep in a wait look again.
void wake_waiters(const common_parts& common) noexcept;

/// Owner, once it is available no longer: what it was given is anybody's while any worker is blocked.
void open_inbox(worker& w) noexcept;

/// Owner, before it sleeps in a task: what it keeps of tasks that it has taken is for everybody.
void share_kept(worker& w) noexcept;

/// The calling thread is blocked until unblock() of the same, as that worker, and as those that it is in the schedulers around.
/// What they have is offered first. Null: nothing happens. May be nested.
void block(worker* innermost) noexcept;
void unblock(worker* innermost) noexcept;

}  // namespace filch::detail
