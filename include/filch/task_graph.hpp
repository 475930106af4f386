// task_graph: tasks of which some have to wait for others, made once and run as often as wanted.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <filch/config.hpp>
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
/// Thread safety: one thread at a time.
class FILCH_API task_graph {
 public:
  /// A task of the graph that it is from. Valid as long as that.
  class node {
   private:
    friend class task_graph;
    explicit node(std::size_t which) noexcept : which_(which) {}
    std::size_t which_;
  };

  task_graph() = default;
  task_graph(const task_graph&) = delete;
  task_graph& operator=(const task_graph&) = delete;

  /// Adds a task, which calls f in each run after those tasks have ended.
  /// @throws std::bad_alloc; what copying f throws.
  template <class F>
  node add(F&& f, const std::vector<node>& after = {}) {
    // An object that may be copied is what std::function wants, whatever f is.
    auto held = std::make_shared<std::decay_t<F>>(std::forward<F>(f));
    return add_task([held] { std::invoke(*held); }, after);
  }
  /// `before` has to end before `after` begins.
  /// @throws std::bad_alloc.
  void precede(node before, node after);

  /// Runs all tasks, and returns when they have ended. May be called again.
  /// @throws std::logic_error, before any task has run, when tasks wait for each other in a circle; of the exceptions that
  ///         tasks threw, that of the task added first. What comes after a task that threw is skipped.
  /// @par Complexity a task for each node, an atomic operation for each edge; nodes in a row are run one after the other by
  ///      one worker.
  void run();

  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }

 private:
  struct task {
    explicit task(std::function<void()> f) : body(std::move(f)) {}
    std::function<void()> body;
    std::vector<task*> next;
    std::size_t before = 0;  ///< how many come before it
    platform::atomic<std::size_t> left{0};
    platform::atomic<bool> is_skipped{false};
    std::exception_ptr error;
  };

  node add_task(std::function<void()> f, const std::vector<node>& after);
  void check_circles();
  static void run_from(task* first, task_group& group);

  std::vector<std::unique_ptr<task>> all_;
  bool is_checked_ = false;
};

}  // namespace filch
