// Several processes, one thread each, that run tasks together without work stealing: the peer of workloads of places. Its
// kernels are those of the places; what differs is how tasks come to a process that has none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <type_traits>

namespace filch::bench {

class task_farm {
 public:
  using task_bytes = std::span<const std::byte>;
  using body = std::function<void(task_bytes)>;

  task_farm() = default;
  virtual ~task_farm() = default;
  task_farm(const task_farm&) = delete;
  task_farm& operator=(const task_farm&) = delete;

  /// All processes call it. Calls `run` with `first`, the same at each but run by one, and with all tasks that are added
  /// meanwhile, each at some process; returns when there are none left. All tasks have the size of `first`.
  virtual void run(task_bytes first, const body& run) = 0;

  /// A task adds another one.
  virtual void add(task_bytes task) = 0;

  /// All processes call it, wait for each other, and get the sums and the largest values over all of them.
  virtual void combine(std::span<std::uint64_t> sums, std::span<double> maxima) = 0;
};

/// Runs tasks of one type, which are copied as bytes: run(task), where run may call add_task().
template <class Task, class Run>
void run_tasks(task_farm& farm, const Task& first, Run run) {
  static_assert(std::is_trivially_copyable_v<Task>);
  farm.run(std::as_bytes(std::span(&first, 1)), [&run](task_farm::task_bytes bytes) {
    Task task;
    std::memcpy(&task, bytes.data(), sizeof task);
    run(task);
  });
}

template <class Task>
void add_task(task_farm& farm, const Task& task) {
  farm.add(std::as_bytes(std::span(&task, 1)));
}

}  // namespace filch::bench
