#include <filch/task_group.hpp>

#include <functional>
#include <mutex>

#include "scheduler/detached_board.hpp"
#include "scheduler/joining.hpp"
#include "scheduler/scheduler_core.hpp"
#include "worker/worker.hpp"

namespace filch {
namespace {

/// Exceptions are rare: one lock for those of all groups.
platform::mutex& errors_mutex() noexcept {
  static platform::mutex mutex;
  return mutex;
}

/// Does the object at `p` lie on the C++ stack inside the frame of the task that is newest on the worker's stack? Then
/// it ends before that task is joined. An object on the heap, or one that an enclosing function owns, does not.
[[gnu::noinline]] bool lies_innermost(const worker& w, const void* p) noexcept {
  const detail::slot* const head = w.head.load();
  const void* const outermost = head > w.activation_base ? (head - 1)->context : w.frame;
  const std::less<> below;
  return below(__builtin_frame_address(0), p) && below(p, outermost);
}

}  // namespace

task_group::task_group(std::stop_token stop) noexcept
    : unwinding_(std::uncaught_exceptions()), stop_(std::move(stop)) {
  if (detail::self == &detail::foreign_worker) return;
  auto& w = static_cast<worker&>(*detail::self);
  board_.store(&w.home->core().board(), std::memory_order_relaxed);
  if (!lies_innermost(w, this)) return;
  owner_ = &w;
  activation_ = w.activation;
  base_ = top_ = w.head.load();
}

task_group::~task_group() {
  if (std::uncaught_exceptions() > unwinding_) cancel();
  if (top_ != base_) wait_for_stack(*detail::self);
  wait_for_detached();
}

group_status task_group::wait() {
  if (on_stack_of(*detail::self)) wait_for_stack(*detail::self);
  wait_for_detached();
  const group_status status = canceled() ? group_status::canceled : group_status::complete;
  canceled_.store(false, std::memory_order_relaxed);
  run_at_once_ = 0;
  // relaxed: set by tasks that have been joined.
  if (failed_.load(std::memory_order_relaxed)) {
    failed_.store(false, std::memory_order_relaxed);
    std::rethrow_exception(std::exchange(error_, nullptr));
  }
  return status;
}

void task_group::wait_for_stack(detail::worker_core& core) noexcept {
  auto& w = static_cast<worker&>(core);
  // From the newest on. A task that the owner runs may push further ones onto the stack again.
  for (detail::slot* next = top_; next != base_;) {
    detail::slot& s = *(next - 1);
    const bool newest = w.head.load() == &s + 1;
    auto how = detail::join_result::reclaimed;
    if (newest) {
      top_ = &s;
      w.head.store(&s);
      platform::signal_fence();
      if (w.split.load() > &s) {
        how = detail::join_offered(w, s);
      } else if (w.must_attend(&s)) {
        detail::attend(w);
      }
    } else if (w.split.load() > &s) {
      how = detail::join_in_place(w, s);
    }
    if (how == detail::join_result::reclaimed) s.run(s, detail::run_by::owner);
    next = newest ? top_ : &s;
  }
}

void task_group::wait_for_detached() {
  detail::detached_board* const board = board_.load(std::memory_order_relaxed);
  // [DB4] acquire: what the tasks did, from [DB3].
  if (board == nullptr || pending_.load(std::memory_order_acquire) == 0) return;
  board->home().run([&] { board->wait(static_cast<worker&>(*detail::self), *this); });
}

void task_group::bind_board() {
  if (board_.load(std::memory_order_relaxed) != nullptr) return;
  detail::worker_core* const w = detail::self;
  scheduler& home = w == &detail::foreign_worker ? scheduler::default_scheduler() : *w->home;
  // relaxed: boards live longer than groups. The first one stays.
  detail::detached_board* none = nullptr;
  board_.compare_exchange_strong(none, &home.core().board(), std::memory_order_relaxed, std::memory_order_relaxed);
}

void task_group::push_detached(detail::detached_task& t) noexcept {
  board_.load(std::memory_order_relaxed)->push(*this, t);
}

void task_group::end_detached(detail::detached_task& t) noexcept {
  board_.load(std::memory_order_relaxed)->end(t);
}

void task_group::record(std::uint64_t order) noexcept {
  const std::lock_guard lock(errors_mutex());
  if (failed_.load(std::memory_order_relaxed) && error_order_ < order) return;
  error_ = std::current_exception();
  error_order_ = order;
  failed_.store(true, std::memory_order_relaxed);
}

}  // namespace filch
