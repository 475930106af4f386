// Tasks of a scheduler that are not part of any construct: what was submitted, and what goes on when a future is ready.
// Nobody has to wait for them; who does waits for their future.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

#include <filch/config.hpp>
#include <filch/detail/detached_task.hpp>
#include <filch/detail/future_base.hpp>
#include <filch/platform/memory.hpp>

namespace filch {
class scheduler;
}

namespace filch::detail {

class background;
class background_link;

class FILCH_API background_task : public detached_task {
 public:
  /// Returns those who wait for what it has made ready; the caller tells them when it has done with the task.
  using body = future_waiter* (*)(background_task&) noexcept;
  /// Of a continuation: the future that it waits for.
  using source_of = future_user<future_base> (*)(const background_task&) noexcept;

  background_task(const background_task&) = delete;
  background_task& operator=(const background_task&) = delete;

  /// Any thread, once, of one that is held: it may run from now on. Returns whom the caller is to tell, if it has run at
  /// once; none: the scheduler has ended, and it never will.
  [[nodiscard]] std::optional<future_waiter*> release() noexcept;
  /// Any thread. May the caller run it, and nobody else?
  [[nodiscard]] bool claim() noexcept;
  /// Who has claimed it: calls the body, and returns what that does.
  [[nodiscard]] future_waiter* run_claimed() noexcept;
  /// Any thread. Is it held still?
  [[nodiscard]] bool is_held() const noexcept { return state_.load(std::memory_order_relaxed) < state::queued; }
  /// Any thread, a hint: may it run, and has nobody begun it?
  [[nodiscard]] bool is_queued() const noexcept { return state_.load(std::memory_order_relaxed) == state::queued; }
  /// Any thread. What it waits for; null: it is not held any more, somebody else asks just now, or it is no continuation.
  [[nodiscard]] future_user<future_base> source() noexcept;
  /// Any thread, a hint: which worker runs it, and in which activation; 0, 0: none does, or it cannot be helped.
  [[nodiscard]] std::pair<std::uint32_t, std::uint64_t> runner() const noexcept;
  /// As long as the task.
  [[nodiscard]] background_link& link() const noexcept { return *link_; }

 protected:
  explicit background_task(body what, source_of asked = nullptr) noexcept;
  ~background_task();
  /// It no longer keeps itself.
  [[nodiscard]] future_holder let_go() noexcept { return std::move(keep_); }
  /// It is held no more, and will not run. From now on nobody asks for what it waited for.
  void give_up() noexcept { end_hold(state::begun); }

 private:
  friend class background;
  enum class state : std::uint8_t {
    held,
    asked,  ///< held, and for a few instructions somebody reads what it waits for
    queued,
    begun
  };

  static run_result run_queued(task& t, run_by who);
  void end_hold(state to) noexcept;

  const body body_;
  const source_of source_;  ///< null: it is no continuation
  platform::atomic<state> state_{state::held};
  platform::atomic<std::uint64_t> runner_{0};  ///< activation and number of the worker that runs it; 0: none does
  background_link* link_ = nullptr;            ///< which it keeps; null: it was never adopted
  future_holder keep_;                         ///< itself, until it has run
};

/// A new task of the scheduler of the calling worker, or of the default scheduler. It waits for release().
FILCH_API void hold_background(background_task& t, future_base& made);
/// A new task of that scheduler, which may run at once.
FILCH_API void submit_background(scheduler& to, background_task& t, future_base& made);

}  // namespace filch::detail
