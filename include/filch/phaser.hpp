// phaser: tasks that advance in phases, each of which begins when all who signal have ended the one before (Shirako,
// Peixotto, Sarkar and Scherer, ICS 2008). A phase is one call of a task's function: a `next` inside of it would hold a
// worker's stack that others need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include <filch/config.hpp>
#include <filch/task_group.hpp>

namespace filch {

/// What a task does in the phases of a phaser.
enum class phaser_mode : std::uint8_t {
  signal_wait,  ///< waits for the others, who wait for it
  signal_only,  ///< the others wait for it; it goes on at once
  wait_only     ///< waits for the others, who do not wait for it
};

/// Thread safety: any thread may call anything. Its tasks are of one finish, until the end of which it lasts: who waits in one finish
/// runs none of another one's, which may be what it waits for.
class FILCH_API phaser {
 public:
  /// Phase 0 does not end before so many that signal take part.
  explicit phaser(std::size_t signallers = 1);
  ~phaser();
  phaser(const phaser&) = delete;
  phaser& operator=(const phaser&) = delete;

  /// The phase that those who wait are in, from 0. A hint while tasks run.
  [[nodiscard]] std::size_t phase() const;

  /// For async_phased: a function of phases, and what makes a task of its finish that is begun later.
  void add(std::function<bool(std::size_t)> f, phaser_mode mode,
           std::function<detail::detached_task&(std::function<void()>)> hold);

 private:
  class state;
  std::shared_ptr<state> state_;
};

}  // namespace filch
