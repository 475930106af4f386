// How a task that can be split is run: the owner's part, inlined into the caller as far as it concerns the task.
#pragma once

#include <cstddef>
#include <optional>
#include <stop_token>

#include <filch/detail/bag_part.hpp>
#include <filch/detail/loop_site.hpp>
#include <filch/detail/task_counts.hpp>
#include <filch/detail/task_part.hpp>
#include <filch/detail/worker_core.hpp>
#include <filch/loop.hpp>
#include <filch/scheduler.hpp>

namespace filch::detail {

/// What all workers that run a part of the task know of it.
template <class Task>
struct adaptive_body {
  std::size_t budget;

  static void run_part(task_part<Task>& part, piece* stolen) noexcept {
    worker_core& w = part.w;
    // What the task is in contains loops; what a step contains is not the business of a chunk of iterations.
    loop_site site;
    const inside_site here(w, site);
    platform::signal_fence();
    w.loops.store(&part.frame);
    begin_bag(part, stolen);
    try {
      do {
        while (part.has_task()) {
          part.step();
          if (part.must_look(part.size())) [[unlikely]]
            attend_bag(part, true);
        }
      } while ((part.frame.newest != nullptr || part.taken != nullptr) && continue_bag(part));
    } catch (...) {
      fail_bag(part);
    }
    w.loops.store(part.frame.outer);
    if (part.whole.counts != nullptr) count_part(part);
  }

  static void run_stolen(worker_core& w, bag_chunk& chunk, piece& stolen) noexcept {
    bag_whole& whole = *chunk.whole;
    task_part<Task> part(w, whole, static_cast<const adaptive_body*>(whole.body)->budget);
    part.put_back(chunk);
    run_part(part, &stolen);
  }
};

template <class Task>
loop_status run_adaptive_on(worker_core& w, Task& task, std::size_t budget, bool counted, const std::stop_token* stop) {
  using run = adaptive_body<Task>;
  const run with{budget};
  bag_whole whole{.body = &with, .run_stolen = &run::run_stolen, .kind = resolve(w, {}).kind, .chunk = 1, .stop = stop};
  std::optional<task_counts> counts;
  if (counted) whole.counts = &counts.emplace(w);
  {
    task_part<Task> part(w, whole, budget);
    part.begin_with(task);
    run::run_part(part, nullptr);
  }
  if (counted) wait_for_counts(*counts);
  if (whole.ended.load(std::memory_order_relaxed)) [[unlikely]]  // [BW1]
    rethrow_from(whole);
  return stop != nullptr && stop->stop_requested() ? loop_status::stopped : loop_status::complete;
}

/// Runs the task until nothing of it is left.
template <class Task>
loop_status run_adaptive(Task& task, std::size_t budget, bool counted, const std::stop_token* stop = nullptr) {
  if (self == &foreign_worker) [[unlikely]] {
    return scheduler::default_scheduler().run([&] { return run_adaptive_on(*self, task, budget, counted, stop); });
  }
  return run_adaptive_on(*self, task, budget, counted, stop);
}

}  // namespace filch::detail
