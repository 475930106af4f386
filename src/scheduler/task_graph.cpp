#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <filch/detail/on_worker.hpp>
#include <filch/detail/profiled_construct.hpp>
#include <filch/platform/memory.hpp>
#include <filch/task_graph.hpp>
#include <filch/task_group.hpp>

namespace filch {
namespace {

[[noreturn]] void reject_node() {
  throw std::invalid_argument(
      "filch: a node of another task_graph, or of none; take those that add() of this graph has returned");
}

}  // namespace

// Hidden: the class around it is exported.
class [[gnu::visibility("hidden")]] task_graph::contents {
 public:
  node add(std::unique_ptr<task> made, std::span<const node> after);
  void precede(node before, node after);
  void run();
  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }

 private:
  void prepare();
  void check_circles();
  void run_all(task* list, task_group& group) noexcept;
  bool share(task& t, task_group& group) noexcept;
  task* run_one(task& t, task* list) noexcept;
  void rethrow();
  static void add_edge(task& before, task& after);
  [[nodiscard]] static std::span<task* const> following(const task& t) noexcept { return {t.next.get(), t.edges}; }

  std::vector<std::unique_ptr<task>> all_;
  std::vector<task*> first_;  ///< those before which none comes, if the graph is prepared
  bool is_prepared_ = false;  ///< nothing was added since
  bool may_circle_ = false;   ///< an edge to an older task was added since
  /// [GN2] relaxed: a task of the run threw, whose end comes before that of the run.
  platform::atomic<bool> has_failed_{false};
};

task_graph::node task_graph::contents::add(std::unique_ptr<task> made, std::span<const node> after) {
  all_.push_back(std::move(made));
  is_prepared_ = false;
  const node added(*this, all_.size() - 1);
  try {
    for (const node before : after) precede(before, added);
  } catch (...) {
    // Without the edges it would run too early.
    for (const auto& each : all_) {
      // It is the newest of theirs.
      while (each->edges != 0 && each->next[each->edges - 1] == all_.back().get()) --each->edges;
    }
    all_.pop_back();
    throw;
  }
  return added;
}

void task_graph::contents::precede(node before, node after) {
  if (before.of_ != this || after.of_ != this) reject_node();
  task& later = *all_[after.which_];
  add_edge(*all_[before.which_], later);
  ++later.before;
  is_prepared_ = false;
  // Each circle has an edge that leads back.
  may_circle_ = may_circle_ || before.which_ >= after.which_;
}

// Room is for two, four, eight of them, and so on.
void task_graph::contents::add_edge(task& before, task& after) {
  if (before.edges != 1 && before.edges == std::bit_floor(before.edges)) {
    auto more = std::make_unique_for_overwrite<task*[]>(std::max<std::size_t>(2, 2 * before.edges));
    std::ranges::copy(following(before), more.get());
    before.next = std::move(more);
  }
  before.next[before.edges++] = &after;
}

void task_graph::contents::prepare() {
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
void task_graph::contents::check_circles() {
  std::vector<task*> ready = first_;
  std::size_t begun = 0;
  for (; !ready.empty(); ++begun) {
    const task* const t = ready.back();
    ready.pop_back();
    for (task* const next : following(*t)) {
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

void task_graph::contents::run() {
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

void task_graph::contents::rethrow() {
  has_failed_.store(false, std::memory_order_relaxed);  // [GN2]
  std::exception_ptr first;
  for (const auto& each : all_) {
    const std::exception_ptr error = std::exchange(each->error, nullptr);
    if (first == nullptr) first = error;
  }
  std::rethrow_exception(first);
}

// Runs the tasks of the list and what is ready after them, but for those that become tasks of the group.
void task_graph::contents::run_all(task* list, task_group& group) noexcept {
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
bool task_graph::contents::share(task& t, task_group& group) noexcept {
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
task_graph::task* task_graph::contents::run_one(task& t, task* list) noexcept {
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
  for (task* const each : std::views::reverse(following(t))) {
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

task_graph::task_graph() noexcept = default;
task_graph::task_graph(task_graph&& from) noexcept = default;
task_graph& task_graph::operator=(task_graph&& from) noexcept = default;
task_graph::~task_graph() = default;

task_graph::node task_graph::add_task(std::unique_ptr<task> made, std::span<const node> after) {
  if (contents_ == nullptr) contents_ = std::make_unique<contents>();
  return contents_->add(std::move(made), after);
}

void task_graph::precede(node before, node after) {
  if (contents_ == nullptr) reject_node();
  contents_->precede(before, after);
}

void task_graph::run() {
  if (contents_ != nullptr) contents_->run();
}

std::size_t task_graph::size() const noexcept { return contents_ != nullptr ? contents_->size() : 0; }

}  // namespace filch
