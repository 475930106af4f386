// A worker's part of a task that can be split: the owner's fast path.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include <filch/config.hpp>
#include <filch/detail/bag_share.hpp>
#include <filch/detail/chunk_tuner.hpp>
#include <filch/detail/worker_core.hpp>

namespace filch::detail {

/// Can the task say how many units of work it has left?
template <class Task>
concept sized_task = requires(const Task& task) {
  { task.size() } -> std::convertible_to<std::size_t>;
};

/// Throws std::logic_error: what a task of `had` units was split into does not add up to that.
FILCH_API [[noreturn, gnu::cold]] void reject_split(std::size_t had, std::size_t kept, std::size_t gave);

/// Splits the task, and in builds that check contracts looks whether it did so rightly.
template <class Task>
std::optional<Task> checked_split(Task& task) {
  if constexpr (checks && sized_task<Task>) {
    const std::size_t had = task.size();
    std::optional<Task> half = task.split();
    const std::size_t kept = task.size();
    const std::size_t gave = half ? static_cast<std::size_t>(half->size()) : 0;
    if (gave > had || kept != had - gave) reject_split(had, kept, gave);
    return half;
  } else {
    return task.split();
  }
}

template <class Task>
struct task_chunk final : bag_chunk {
  std::optional<Task> task;
};

template <class Task>
class task_share final : public bag_share {
 public:
  /// `budget`: units of a step; 0: as many as take about a microsecond.
  task_share(worker_core& owner, bag_state& of, std::size_t budget) noexcept
      : bag_share(owner, of), tuner_(owner.loops.tuners->of(&key_of<task_share>)), budget_(budget) {}
  ~task_share() = default;
  task_share(const task_share&) = delete;
  task_share& operator=(const task_share&) = delete;

  /// Begins with a task that is somebody else's, and stays so.
  void begin_with(Task& task) noexcept { task_ = std::addressof(task); }

  [[nodiscard]] bool has_work() const noexcept override { return task_ != nullptr; }

  /// One step. If that throws, the task is not run any more.
  void step() {
    may_split_ = false;
    may_split_ = budget_ != 0 ? task_->step(budget_) : timed_step();
    if (!may_split_) drop();
  }

  /// As much as can be known: 2 where the task may split.
  [[nodiscard]] std::size_t size() const noexcept override { return may_split_ ? 2 : 0; }

  [[nodiscard]] bag_chunk* cut(std::size_t /*count*/) noexcept override {
    // Before the split, which cannot be taken back.
    std::unique_ptr<task_chunk<Task>> chunk(new (std::nothrow) task_chunk<Task>);
    if (chunk == nullptr) return nullptr;
    may_split_ = false;  // nor while it splits, moves, or ends what was moved from: all of that may fork
    try {
      if (std::optional<Task> half = detail::checked_split(*task_)) chunk->task.emplace(std::move(*half));
      may_split_ = chunk->task.has_value();
      return may_split_ ? chunk.release() : nullptr;
    } catch (...) {
      detail::note_failure(*this);
      return nullptr;
    }
  }

  void put_back(bag_chunk& chunk) noexcept override {
    own_.reset(&static_cast<task_chunk<Task>&>(chunk));
    task_ = std::addressof(*own_->task);
  }

  void adopt(bag_chunk& chunk) noexcept override { put_back(chunk); }

  void drop() noexcept override {
    may_split_ = false;  // before the destructor, which may fork
    task_ = nullptr;
    own_.reset();
  }

 private:
  /// A step whose budget is found by the clock, like the chunks of loops.
  bool timed_step() {
    const std::uint64_t units = tuner_.chunk.load();
    if (--tuner_.until_timed != 0) [[likely]]
      return task_->step(units);
    tuner_.until_timed = chunk_tuner::rarely;  // also for a step that throws
    const chunk_timer timer;
    const bool more = task_->step(units);
    const std::int64_t ns = timer.ns();
    // The last step of a task may have had less to do: that says something only by being too long.
    if (tuner_.chunk.load() == units && (more || ns > chunk_tuner::chunk_ns)) tuner_.took(ns);
    return more;
  }

  chunk_tuner& tuner_;
  std::size_t budget_;
  Task* task_ = nullptr;  ///< in progress: that of `own_`, or the caller's
  std::unique_ptr<task_chunk<Task>> own_;
  /// The last step has left something, and the task has not refused to split since. So an empty task is not split, and
  /// nothing in the middle of a step.
  bool may_split_ = false;
};

}  // namespace filch::detail
