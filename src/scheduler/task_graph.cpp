#include <algorithm>
#include <exception>
#include <new>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>

#include <filch/detail/on_worker.hpp>
#include <filch/detail/profiled_construct.hpp>
#include <filch/task_graph.hpp>

namespace filch {

task_graph::node task_graph::add_task(std::unique_ptr<task> made, const std::vector<node>& after) {
  all_.push_back(std::move(made));
  is_prepared_ = false;
  const node added(*this, all_.size() - 1);
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
  if (before.of_ != this || after.of_ != this) {
    throw std::invalid_argument(
        "filch: a node of another task_graph, or of none; take those that add() of this graph has returned");
  }
  task& later = *all_[after.which_];
  all_[before.which_]->next.push_back(&later);
  ++later.before;
  is_prepared_ = false;
  // Each circle has an edge that leads back.
  may_circle_ = may_circle_ || before.which_ >= after.which_;
}

void task_graph::prepare() {
  if (is_prepared_) return;
  first_.clear();
  for (const auto& each : all_) {
    each->left.store(each->before, std::memory_order_relaxed);  // nobody runs
    if (each->before == 0) first_.push_back(each.get());
  }
  if (may_circle_) check_circles();
  may_circle_ = false;
  is_prepared_ = true;
}

// As many tasks as can be begun one after the other are all of them, unless some wait for each other.
void task_graph::check_circles() {
  std::vector<task*> ready = first_;
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
  for (const auto& each : all_) each->left.store(each->before, std::memory_order_relaxed);
}

void task_graph::run() {
  prepare();
  if (first_.empty()) return;
  detail::on_worker([this] {
    task* ready = nullptr;
    std::for_each(first_.rbegin(), first_.rend(), [&](task* t) { t->later = std::exchange(ready, t); });
    task_group group;
    run_all(ready, group);
    group.wait();
  });
  if (has_failed_.load(std::memory_order_relaxed)) rethrow();  // [GN2]
}

void task_graph::rethrow() {
  has_failed_.store(false, std::memory_order_relaxed);  // [GN2]
  std::exception_ptr first;
  for (const auto& each : all_) {
    const std::exception_ptr error = std::exchange(each->error, nullptr);
    if (first == nullptr) first = error;
  }
  std::rethrow_exception(first);
}

// Runs the tasks of the list and what is ready after them, but for those that become tasks of the group.
void task_graph::run_all(task* list, task_group& group) noexcept {
  while (list != nullptr) {
    task& t = *list;
    task* others = t.later;
    while (others != nullptr) {
      task* const following = others->later;
      if (!share(*others, group)) break;
      others = following;
    }
    list = run_one(t, others);
  }
}

// False: there is no room for it; the list keeps it.
bool task_graph::share(task& t, task_group& group) noexcept {
  const detail::worker_core& w = *detail::self;
  // On a full stack it would run at once, and so on; only a profile wants to know what is a task.
  if (w.head.load() == w.end && !detail::is_profiled(w)) return false;
  task* const kept = std::exchange(t.later, nullptr);
  try {
    group.run([this, &t, &group] { run_all(&t, group); });
    return true;
  } catch (const std::bad_alloc&) {
    t.later = kept;
    return false;
  }
}

// The list, with what is ready now in front.
task_graph::task* task_graph::run_one(task& t, task* list) noexcept {
  t.left.store(t.before, std::memory_order_relaxed);  // for the next run, ordered by this one's end
  detail::begin_profiled_node(t.path);
  bool failed = t.is_skipped.load(std::memory_order_relaxed);  // [GN1] acquires it
  if (failed) {
    t.is_skipped.store(false, std::memory_order_relaxed);
  } else {
    try {
      t.call();
    } catch (...) {
      t.error = std::current_exception();
      has_failed_.store(true, std::memory_order_relaxed);  // [GN2]
      failed = true;
    }
  }
  // From the last on, so that the first comes first.
  for (task* const each : std::views::reverse(t.next)) {
    task& next = *each;
    detail::end_profiled_node(next.path);
    if (failed) next.is_skipped.store(true, std::memory_order_relaxed);  // released by [GN1]
    // [GN1] acquire: what all tasks before it did, for the last of them to end, after which nobody counts any more. Release:
    // what this one did, for that one.
    if (next.left.load(std::memory_order_acquire) != 1 && next.left.fetch_sub(1, std::memory_order_acq_rel) != 1) {
      continue;
    }
    next.later = std::exchange(list, &next);
  }
  return list;
}

}  // namespace filch
