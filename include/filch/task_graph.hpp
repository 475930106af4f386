// task_graph: tasks of which some have to wait for others, made once and run as often as wanted.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <filch/config.hpp>
#include <filch/detail/profiled_construct.hpp>
#include <filch/platform/memory.hpp>
#include <filch/task_group.hpp>

namespace filch {

/// Tasks, and which ones come before which. A task begins when all those before it have ended; nobody waits meanwhile.
///
///     filch::task_graph graph;
///     auto load = graph.add([] { ... });
///     auto left = graph.add([] { ... }, {load});      // after load
///     auto right = graph.add([] { ... }, {load});
///     graph.add([] { ... }, {left, right});
///     graph.run();
///
/// Can be moved, but not while it runs; its nodes are those of the new graph then, and what was moved from has no tasks.
/// Thread safety: one thread at a time.
class FILCH_API task_graph {
  class contents;

 public:
  /// A task of the graph that it is from, as long as that is there; by default, none.
  class node {
   public:
    node() = default;

   private:
    friend class task_graph;
    node(const contents& of, std::size_t which) noexcept : of_(&of), which_(which) {}
    const contents* of_ = nullptr;
    std::size_t which_ = 0;
  };

  task_graph() noexcept;
  task_graph(task_graph&& from) noexcept;
  /// The tasks that it had so far go.
  task_graph& operator=(task_graph&& from) noexcept;
  task_graph(const task_graph&) = delete;
  task_graph& operator=(const task_graph&) = delete;
  ~task_graph();

  /// Adds a task, which calls f in each run after those tasks have ended.
  /// @throws std::bad_alloc; what copying f throws; std::invalid_argument when one of those tasks is not of this graph. Then
  ///         nothing was added.
  template <class F>
  node add(F&& f, const std::vector<node>& after = {}) {
    return add_task(std::make_unique<task_of<std::decay_t<F>>>(std::forward<F>(f)), after);
  }
  /// `before` has to end before `after` begins.
  /// @throws std::bad_alloc; std::invalid_argument when one of them is not a task of this graph.
  void precede(node before, node after);

  /// Runs all tasks, and returns when they have ended. May be called again.
  /// @throws std::logic_error, before any task has run, when tasks wait for each other in a circle; of the exceptions that
  ///         tasks threw, that of the task added first. What comes after a task that threw is skipped. std::bad_alloc,
  ///         before any task has run.
  /// @par Complexity an atomic operation for each edge; nodes in a row are run one after the other by one worker. Circles are
  ///      looked for once after each change that could have made one.
  void run();

  [[nodiscard]] std::size_t size() const noexcept;

 private:
  // What programs and the library both know has no containers, which the program's flags may change (_GLIBCXX_DEBUG).
  struct task {
    task() = default;
    virtual ~task() = default;
    task(const task&) = delete;
    task& operator=(const task&) = delete;
    virtual void call() = 0;

    std::unique_ptr<task*[]> next;  ///< what it comes before: `edges` of them
    std::size_t edges = 0;
    std::size_t before = 0;  ///< how many come before it
    task* later = nullptr;   ///< of those that a worker has yet to run, the next one
    std::exception_ptr error;
    detail::profiled_path path;  ///< that ends where it may begin, if the run is profiled
    // Between two runs they are as before the first.
    platform::atomic<std::size_t> left{0};  ///< of those before it, how many have not ended
    platform::atomic<bool> is_skipped{false};
  };
  template <class F>
  struct task_of final : task {
    template <class From>
    explicit task_of(From&& from) : f(std::forward<From>(from)) {}
    void call() override { std::invoke(f); }
    F f;
  };

  node add_task(std::unique_ptr<task> made, std::span<const node> after);

  std::unique_ptr<contents> contents_;  ///< null: no tasks
};

}  // namespace filch
