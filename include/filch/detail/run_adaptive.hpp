// How a task that can be split is run: the owner's part, inlined into the caller as far as it concerns the task.
#pragma once

#include <cstddef>
#include <optional>
#include <stop_token>

#include <filch/detail/bag_share.hpp>
#include <filch/detail/division.hpp>
#include <filch/detail/on_worker.hpp>
#include <filch/detail/run_bag_share.hpp>
#include <filch/detail/task_counts.hpp>
#include <filch/detail/task_share.hpp>
#include <filch/detail/worker_core.hpp>
#include <filch/loop.hpp>

namespace filch::detail {

/// What all workers that run a part of the task know of it.
template <class Task>
struct adaptive_body {
  std::size_t budget;

  static void run_part(task_share<Task>& part, piece* stolen) noexcept {
    detail::run_bag_share(part, stolen, [&] { part.step(); });
  }

  static void run_stolen(worker_core& w, bag_chunk& chunk, piece& stolen) noexcept {
    bag_state& whole = *chunk.whole;
    task_share<Task> part(w, whole, static_cast<const adaptive_body*>(whole.body)->budget);
    part.put_back(chunk);
    run_part(part, &stolen);
  }
};

template <class Task>
loop_status run_adaptive_on(worker_core& w, Task& task, std::size_t budget, bool counted, const std::stop_token* stop) {
  using run = adaptive_body<Task>;
  const run with{budget};
  bag_state whole{.body = &with, .run_stolen = &run::run_stolen, .kind = resolve(w, {}).kind, .chunk = 1, .stop = stop};
  std::optional<task_counts> counts;
  if (counted) whole.counts = &counts.emplace(w);
  {
    task_share<Task> part(w, whole, budget);
    part.begin_with(task);
    run::run_part(part, nullptr);
  }
  if (counted) wait_for_counts(*counts);
  return outcome_of(whole);
}

/// Runs the task until nothing of it is left.
template <class Task>
loop_status run_adaptive(Task& task, std::size_t budget, bool counted, const std::stop_token* stop = nullptr) {
  return detail::on_worker([&] {
    const search_pause here(*self);
    return detail::run_adaptive_on(*self, task, budget, counted, stop);
  });
}

}  // namespace filch::detail
