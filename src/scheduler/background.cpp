#include "scheduler/background.hpp"

#include <utility>

#include <filch/future.hpp>

#include "platform/backoff.hpp"
#include "scheduler/scheduler_core.hpp"
#include "worker/task_state.hpp"
#include "worker/team.hpp"
#include "worker/worker.hpp"

namespace filch::detail {

namespace {

constexpr unsigned number_bits = 16;
static_assert(std::uint64_t{team::max_workers} <= std::uint64_t{1} << number_bits);
static_assert(id_bits + number_bits <= 64);

}  // namespace

void background_link::cut() noexcept { users_.fetch_add(is_cut, std::memory_order_relaxed); }  // [BL1]

bool background_link::leads_to(const scheduler_core& core) const noexcept { return core.background_tasks().has(*this); }

worker* background_link::worker_of_caller() const noexcept {
  worker* w = worker::of_this_thread();
  while (w != nullptr && !leads_to(w->core)) w = w->outer;
  return w;
}

scheduler_core* background_link::around_caller() const noexcept {
  return worker_of_caller() != nullptr ? &to_ : nullptr;
}

void background_link::let_go(std::uint64_t times) noexcept {
  // [BL3] release: what was done with the link, for who ends it, which acquires that. No exploration catches this: as [BL2].
  if (keeps_.fetch_sub(times, std::memory_order_acq_rel) == times) delete this;
}

void background_link::keep_for_task() noexcept {
  worker* const w = worker_of_caller();
  if (w == nullptr) return keep();
  std::uint64_t& store = w->detached.link_keeps;
  if (store == 0) {
    keep(batch);
    store = batch;
  }
  --store;
}

void background_link::let_go_of_task() noexcept {
  worker* const w = worker_of_caller();
  if (w == nullptr) return let_go();
  std::uint64_t& store = w->detached.link_keeps;
  if (++store <= 2 * batch) return;
  store -= batch;
  let_go(batch);  // not the last: the scheduler of this worker keeps it
}

void background_link::await_users() noexcept {
  // [BL2] acquire: what users did.
  while (users_.load(std::memory_order_acquire) != is_cut) parker_.park();
}

void background_link::leave() noexcept {
  // [BL2] release: what it did with the scheduler, for who ends that. No exploration catches this: what it touches last are
  // atomic objects, and nobody looks whether an object's end comes after all that was done with it.
  if (users_.fetch_sub(one_user, std::memory_order_release) == one_user + is_cut) parker_.unpark();
}

background_task::background_task(body what, source_of asked) noexcept : body_(what), source_(asked) {
  run.store(&run_queued);
}

background_task::~background_task() {
  if (link_ != nullptr) link_->let_go_of_task();
}

bool background_task::claim() noexcept {
  state found = state::queued;
  // [BG1] acquire: the task, and for a continuation the value that it waited for, from who has queued it; also where the
  // caller has not found it in a queue.
  return state_.compare_exchange_strong(found, state::begun, std::memory_order_acquire, std::memory_order_relaxed);
}

future_user<future_base> background_task::source() noexcept {
  state found = state::held;
  // [BG3] acquire: the task as it was made, or as who asked before has left it. No exploration catches this: who asks has
  // the future from who made the task.
  if (source_ == nullptr ||
      !state_.compare_exchange_strong(found, state::asked, std::memory_order_acquire, std::memory_order_relaxed)) {
    return {};
  }
  future_user<future_base> found_source = source_(*this);
  // [BG3] release: that it was read, for who ends the hold, after which the runner moves it away. No exploration catches
  // this: what is read is a pointer, which explorations do not watch.
  state_.store(state::held, std::memory_order_release);
  return found_source;
}

void background_task::end_hold(state to) noexcept {
  platform::backoff asking;
  state found = state::held;
  // [BG3] acquire: that nobody asks any more. release: what the task captured and waited for, for who claims it ([BG1]).
  while (!state_.compare_exchange_strong(found, to, std::memory_order_acq_rel, std::memory_order_relaxed)) {
    found = state::held;
    asking.wait();
  }
}

future_waiter* background_task::run_claimed() noexcept {
  worker* const w = worker::of_this_thread();
  // Where tasks run at once it may be another scheduler's, which nobody who waits can help.
  if (w != nullptr && link_->leads_to(w->core)) {
    // [BG2] release: the worker, which may be a new guest, for who looks at what it runs.
    runner_.store(w->activations.innermost() << number_bits | w->number, std::memory_order_release);
  }
  if (w == nullptr || !w->scopes) return body_(*this);
  w->scopes->begin(w->head.load(), w->newest_id, scope_list::of_background());
  future_waiter* const following = body_(*this);
  w->scopes->end();
  return following;
}

std::pair<std::uint32_t, std::uint64_t> background_task::runner() const noexcept {
  const std::uint64_t both = runner_.load(std::memory_order_acquire);  // [BG2] acquire
  return {static_cast<std::uint32_t>(both % (std::uint64_t{1} << number_bits)), both >> number_bits};
}

run_result background_task::run_queued(task& t, run_by /*who*/) {
  auto& own = static_cast<background_task&>(t);
  group_rest& home = *own.home;
  {
    const future_holder itself = own.let_go();
    tell_all(own.claim() ? own.run_claimed() : nullptr);
  }
  home.home.end(home);
  return run_result::released;
}

std::optional<future_waiter*> background_task::release() noexcept {
  // Also when the scheduler has begun to end: it runs what its tasks leave it.
  if (scheduler_core* const own = link_->around_caller()) return own->background_tasks().queue(*this);
  background_link& link = *link_;
  link.keep();  // the task may be gone when the link is left
  future_waiter* following = nullptr;
  const bool is_queued = link.with([&](scheduler_core& core) { following = core.background_tasks().queue(*this); });
  link.let_go();
  if (!is_queued) return std::nullopt;
  return following;
}

background::~background() {
  std::uint64_t keeps = 1;  // its own
  for (std::uint32_t i = 0; i < everybody_.most(); ++i) keeps += std::exchange(everybody_[i].detached.link_keeps, 0);
  link_.let_go(keeps);
}

group_rest& background::tasks() {
  // [BL4] acquire: the group, from who has made it; the first task of all.
  if (group_rest* const found = tasks_.load(std::memory_order_acquire)) return *found;
  const std::lock_guard lock(mutex_);
  if (made_ == nullptr) {
    std::unique_ptr<group_rest> made = home_.injected().make_lasting_rest();
    home_.need_thread_for(*made);
    made_ = std::move(made);
    tasks_.store(made_.get(), std::memory_order_release);  // [BL4] release
  }
  return *made_;
}

void background::adopt(background_task& t, future_base& made) {
  if (!home_.runs_at_once()) t.home = &tasks();
  link_.keep_for_task();
  t.link_ = &link_;
  t.keep_ = future_holder(made);
}

void background::submit(background_task& t, future_base& made) {
  adopt(t, made);
  tell_all(queue(t));
}

future_waiter* background::queue(background_task& t) noexcept {
  t.end_hold(background_task::state::queued);
  if (!home_.runs_at_once()) {
    home_.injected().push(t);
    return nullptr;
  }
  const future_holder last = t.let_go();
  if (!t.claim()) return nullptr;
  try {
    // As a worker, since the task may end the scheduler.
    return home_.run([&] { return t.run_claimed(); });
  } catch (const std::exception&) {
    return t.run_claimed();  // there was no memory for a guest
  }
}

void hold_background(background_task& t, future_base& made) {
  scheduler_core::of_caller_or_default().background_tasks().adopt(t, made);
}

void submit_background(scheduler& to, background_task& t, future_base& made) {
  to.core().background_tasks().submit(t, made);
}

}  // namespace filch::detail
