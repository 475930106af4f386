#include <stdexcept>
#include <string>

#include <filch/task_graph.hpp>

namespace filch {

task_graph::node task_graph::add_task(std::function<void()> f, const std::vector<node>& after) {
  all_.push_back(std::make_unique<task>(std::move(f)));
  const node added(all_.size() - 1);
  try {
    for (const node before : after) precede(before, added);
  } catch (...) {
    // Without the edges it would run too early.
    for (const auto& each : all_) std::erase(each->next, all_.back().get());
    all_.pop_back();
    throw;
  }
  return added;
}

void task_graph::precede(node before, node after) {
  task& later = *all_[after.which_];
  all_[before.which_]->next.push_back(&later);
  ++later.before;
  is_checked_ = false;
}

// As many tasks as can be begun one after the other are all of them, unless some wait for each other.
void task_graph::check_circles() {
  if (is_checked_) return;
  std::vector<task*> ready;
  for (const auto& each : all_) {
    each->left.store(each->before, std::memory_order_relaxed);
    if (each->before == 0) ready.push_back(each.get());
  }
  std::size_t begun = 0;
  for (; !ready.empty(); ++begun) {
    const task* const t = ready.back();
    ready.pop_back();
    for (task* const next : t->next) {
      const std::size_t left = next->left.load(std::memory_order_relaxed) - 1;
      next->left.store(left, std::memory_order_relaxed);
      if (left == 0) ready.push_back(next);
    }
  }
  if (begun != all_.size()) {
    throw std::logic_error(
        "filch: " + std::to_string(all_.size() - begun) +
        " tasks of a task_graph wait for each other in a circle, or for such tasks; take an edge away");
  }
  is_checked_ = true;
}

void task_graph::run() {
  check_circles();
  for (const auto& each : all_) {
    each->left.store(each->before, std::memory_order_relaxed);
    each->is_skipped.store(false, std::memory_order_relaxed);
    each->error = nullptr;
  }
  task_group group;
  for (const auto& each : all_) {
    if (each->before == 0) group.run([first = each.get(), &group] { run_from(first, group); });
  }
  group.wait();
  for (const auto& each : all_) {
    if (each->error != nullptr) std::rethrow_exception(each->error);
  }
}

void task_graph::run_from(task* first, task_group& group) {
  for (task* t = first; t != nullptr;) {
    bool failed = t->is_skipped.load(std::memory_order_relaxed);  // [GN1] acquires it
    if (!failed) {
      try {
        t->body();
      } catch (...) {
        t->error = std::current_exception();
        failed = true;
      }
    }
    task* next_here = nullptr;
    for (task* const next : t->next) {
      if (failed) next->is_skipped.store(true, std::memory_order_relaxed);
      // [GN1] acq_rel: what all tasks before it did, for the last of those that come before.
      if (next->left.fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
      if (next_here == nullptr) {
        next_here = next;
      } else {
        group.run([next, &group] { run_from(next, group); });
      }
    }
    t = next_here;
  }
}

}  // namespace filch
