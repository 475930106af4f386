// What a thief that takes several tasks at once has not begun yet. Their owner takes them back by their states, as it does
// with those behind a proxy; nobody else finds them, unless the thief is about to sleep: docs/protocols/wait.md, batches.
#pragma once

#include <cstdint>
#include <utility>

#include "worker/worker.hpp"

namespace filch::detail {

/// Consecutive slots of the owner's stack.
struct task_row {
  slot* first;
  slot* end;
  worker* owner;
  std::uint64_t state;  ///< of those that nobody has begun
};

/// Owner. A row that the worker runs, the oldest first; in the middle of one it may begin another row.
class kept_tasks {
 public:
  kept_tasks(worker& w, task_row row) noexcept : w_(w), row_(row), outer_(std::exchange(w.kept, this)) {}
  ~kept_tasks() { w_.kept = outer_; }
  kept_tasks(const kept_tasks&) = delete;
  kept_tasks& operator=(const kept_tasks&) = delete;

  void run_all() noexcept {
    while (row_.first != row_.end) w_.run_batched(*row_.first++, *row_.owner, row_.state);
  }
  [[nodiscard]] const task_row& left() const noexcept { return row_; }
  [[nodiscard]] bool is_empty() const noexcept { return row_.first == row_.end; }
  /// Somebody else runs them.
  void give_away() noexcept { row_.first = row_.end; }
  [[nodiscard]] kept_tasks* outer() const noexcept { return outer_; }

 private:
  worker& w_;
  task_row row_;
  kept_tasks* const outer_;
};

}  // namespace filch::detail
