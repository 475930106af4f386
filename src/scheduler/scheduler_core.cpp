#include "scheduler/scheduler_core.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <utility>

#include "platform/clock.hpp"
#include "scheduler/watched.hpp"
#include "worker/outside_of_construct.hpp"
#include "worker/profile_recorder.hpp"
#include "worker/wait.hpp"
#include "worker/worker.hpp"

namespace filch::detail {
namespace {

/// Which counter of a worker adds to which number of the statistics.
struct counter_pair {
  counters::value counters::* from;
  std::uint64_t statistics::* to;
};
constexpr std::array counter_pairs{
    counter_pair{&counters::steals, &statistics::steals},
    counter_pair{&counters::failed_steals, &statistics::failed_steals},
    counter_pair{&counters::leaps, &statistics::leaps},
    counter_pair{&counters::grows, &statistics::grows},
    counter_pair{&counters::shrinks, &statistics::shrinks},
    counter_pair{&counters::offers, &statistics::offers},
    counter_pair{&counters::splits, &statistics::splits},
    counter_pair{&counters::transactions, &statistics::transactions},
    counter_pair{&counters::synchronizations, &statistics::synchronizations},
    counter_pair{&counters::coalesced, &statistics::coalesced},
    counter_pair{&counters::migrations, &statistics::migrations},
    counter_pair{&counters::parks, &statistics::parks},
    counter_pair{&counters::interrupts, &statistics::interrupts},
    counter_pair{&counters::transfer_attempts, &statistics::transfer_attempts},
    counter_pair{&counters::transfer_wait_ns, &statistics::transfer_wait_ns},
    counter_pair{&counters::bad_hints, &statistics::bad_hints},
};

statistics total(const team& everybody) {
  statistics sum;
  for (std::uint32_t i = 0; i < everybody.most(); ++i) {
    for (const auto& [from, to] : counter_pairs) {
      sum.*to += (everybody[i].counted.*from).load(std::memory_order_relaxed);
    }
    sum.idle_ns += everybody[i].counted.idle.ns();
    sum.wait_ns += everybody[i].counted.waiting.ns();
  }
  return sum;
}

/// Constructs tell the recorder of the worker that runs them, on their cold paths.
void set_profile(worker& w, std::shared_ptr<profile_recorder> recorder) noexcept {
  w.profile = std::move(recorder);
  w.diverts = true;
  w.raise();
}

void clear_profile(worker& w) noexcept {
  w.profile = nullptr;
  w.diverts = false;
}

void begin_root_of_profile(worker& w) {
  set_profile(w, std::make_shared<profile_recorder>(platform::now_ns()));
  process_profile::begin_root();
  try {
    w.profile->begin_root();
  } catch (...) {
    process_profile::end_root(w.profile->since_ns());
    clear_profile(w);
    throw;
  }
}

}  // namespace

/// Of a worker without a task: for as long as its thread lasts, or until the caller of serve() has what it waits for.
class scheduler_core::idle_wait {
 public:
  idle_wait(scheduler_core& core, worker& w, const platform::atomic<bool>& until) noexcept
      : core_(core), w_(w), until_(until) {
    core_.sleepers_.begin_search(w_);
  }

  // [ST2] relaxed: only ends the loop. The thread's end is what the scheduler's destructor waits for; the caller of
  // serve() acquires afterwards.
  [[nodiscard]] bool over() const noexcept { return until_.load(std::memory_order_relaxed); }

  bool help() noexcept {
    w_.counted.idle.begin();
    if (core_.network_ != nullptr) core_.network_->poll();
    const auto acquire = [this](work_source* from) { return from->acquire(w_); };
    // What is handed over from outside comes first: part of a long loop, once it is begun, would keep that waiting until its
    // end.
    if (!core_.injected_.acquire_from_outside(w_) && !core_.policy_->acquire(w_) && !w_.run_given(w_) &&
        !run_given_to_blocked() && !std::ranges::any_of(core_.sources_, acquire)) {
      // Others are likelier to have what is left; and each look at a worker that has nothing costs that one time.
      for (std::uint32_t i = std::min(++in_vain_ / searches_at_full_pace, most_further_pauses); i != 0; --i)
        platform::pause();
      return false;
    }
    in_vain_ = 0;
    search_again();
    return true;
  }

  void answer() noexcept { tell_next(w_); }  // it has nothing to give

  bool interrupt() noexcept { return core_.interrupter_.interrupt_all_due(w_); }

  bool sleep() noexcept {
    tell_rest(w_);
    core_.sleepers_.announce(w_);
    if (something_visible() || core_.policy_->work_visible(w_)) {
      core_.sleepers_.withdraw(w_);
    } else if (core_.sleepers_.is_warm()) {
      core_.sleepers_.withdraw(w_);
      platform::yield();  // to threads that have no processor
    } else if (!sleep_or_nap()) {
      core_.interrupter_.interrupt_all_due(w_);
    }
    if (core_.policy_->collect(w_)) search_again();
    return true;
  }

 private:
  [[nodiscard]] bool something_visible() const noexcept {
    // [ST3] seq_cst: after [SL3]; pairs with [ST1].
    return until_.load(std::memory_order_seq_cst) || w_.box.is_filled() || with_open_inbox(w_.common) != nullptr ||
           std::ranges::any_of(core_.sources_, &work_source::work_visible);
  }

  bool run_given_to_blocked() noexcept {
    worker* const of = with_open_inbox(w_.common);
    return of != nullptr && w_.run_given(*of);
  }

  /// False: nobody has woken it.
  bool sleep_or_nap() noexcept {
    poller* const network = core_.network_;
    if (network == nullptr || !network->begin_nap()) return core_.sleepers_.sleep(w_, core_.interrupter_.earliest(w_));
    w_.count(&counters::parks);
    bool woken = false;
    do {
      const std::int64_t next_ns = std::min(network->poll_in_nap(), core_.interrupter_.earliest(w_));
      woken = core_.sleepers_.park(w_, next_ns);
    } while (!woken && !something_visible() && core_.interrupter_.earliest(w_) > platform::now_ns());
    network->end_nap();
    core_.sleepers_.end_sleep(w_, woken);
    return woken;
  }

  void search_again() noexcept {
    w_.note_nothing();
    core_.sleepers_.begin_search(w_);
  }

  // Measured on simulated machines: with 64 workers and more, programs are faster by 5 to 30 % in the mean; with 16 it makes
  // no difference.
  static constexpr std::uint32_t searches_at_full_pace = 32;
  static constexpr std::uint32_t most_further_pauses = 2;

  scheduler_core& core_;
  worker& w_;
  const platform::atomic<bool>& until_;
  std::uint32_t in_vain_ = 0;  ///< searches since the last one that found something
};

scheduler_core::scheduler_core(scheduler& home, configuration chosen, const place_hooks& place)
    : home_(home),
      chosen_(std::move(chosen)),
      policy_(make_policy(chosen_)),
      // Where not everybody may take everything, whom to wake is not left to the lookout.
      sleepers_(team_, policy_->steals_anywhere() ? static_cast<std::uint32_t>(chosen_.processors) : 0),
      interrupter_(team_, chosen_.interrupt_after_ns),
      injected_(*this, team_, sleepers_),
      background_(*this, team_),
      sources_{&injected_},
      network_(place.network),
      place_(place.of),
      process_trace_(*this),
      schedule_(chosen_.workers),
      is_recorded_(process_trace_.is_wanted()),
      spares_(*this) {
  if (place.tasks != nullptr) sources_.push_back(place.tasks);
  if (interrupts_wanted()) interrupter::prepare();
  for (const platform::worker_place& at : platform::places_of_workers(chosen_.workers, chosen_.pinning)) add_worker(at);
  threads_.reserve(static_cast<std::size_t>(chosen_.workers));  // a thread that runs must not be lost
  try {
    for (int i = 1; i < chosen_.workers; ++i) {
      worker& w = team_[static_cast<std::uint32_t>(i)];
      w.attached.store(true, std::memory_order_relaxed);  // published with the thread
      threads_.push_back(std::make_unique<platform::thread>(
          platform::worker_stack_bytes(), [this, &w] { begin_thread(w); }, w.location.processor,
          "filch-" + std::to_string(i)));
    }
    if (chosen_.interrupt_every_ns != 0) {
      ticker_ = std::make_unique<ticker>(interrupter_, sleepers_, chosen_.interrupt_every_ns);
    }
    if (sleepers_.held_back().processors() != 0) lookout_ = std::make_unique<lookout>(sleepers_, team_);
    schedule_.take_number();
  } catch (...) {
    stop();
    throw;
  }
  watched_.emplace(watched_parts(team_, chosen_));
}

scheduler_core::~scheduler_core() { stop(); }

bool scheduler_core::close() noexcept {
  background_.close();
  // In a child process after fork() a thread that is not there may have been in the middle of anything.
  if (!is_of_this_process()) return true;
  if (background_.is_around_caller()) return false;
  background_.await_users();
  const auto drain = [this] {
    if (injected_.work_visible()) run([this] { injected_.drain(static_cast<worker&>(*self)); });
  };
  // Again for what the last tasks of the threads have made, which may begin spare threads as well.
  do {
    drain();
    stop();
  } while (injected_.work_visible());
  return true;
}

// First the workers' threads: what they run may be blocked, and wait for what a spare thread runs in their place.
void scheduler_core::stop() noexcept {
  if (!is_of_this_process()) return;  // whose threads are the parent's
  // [ST1] seq_cst: before the look for sleepers; a worker that falls asleep looks for it after [SL3].
  stopping_.store(true, std::memory_order_seq_cst);
  sleepers_.wake_all();
  for (const auto& thread : threads_) thread->join();
  spares_.stop();
  threads_.clear();  // not before: the tasks of spare threads look whether there are any
}

worker& scheduler_core::add_worker(const platform::worker_place& at) {
  const std::uint32_t number = team_.most();
  if (number == static_cast<std::uint32_t>(chosen_.workers + scheduler::most_guests)) {
    throw std::runtime_error(
        "filch: " + std::to_string(scheduler::most_guests) +
        " threads take part in a scheduler beside its workers; let fewer threads call run, or be in a "
        "blocking region, at the same time");
  }
  const common_parts common{team_,    sleepers_,       interrupter_,    *policy_,       spares_,
                            mutexes_, chosen_.workers, chosen_.spin_ns, chosen_.policy, place_ != nullptr};
  auto w = std::make_unique<worker>(static_cast<std::uint16_t>(number), *this, common, chosen_.stack_bytes, at);
  w->offered = policy_->make_offer();
  w->loops.kind = runs_at_once() ? loop_kind::standard : chosen_.loop;
  if (is_recorded_) w->trace.start();
  team_.add(std::move(w));
  return team_[number];
}

scheduler_core& scheduler_core::of_caller_or_default() {
  const worker* const w = worker::of_this_thread();
  return w != nullptr ? w->core : scheduler::default_scheduler().core();
}

worker& scheduler_core::attach() {
  worker& w = find_seat();
  w.note_socket();
  if (ticker_ != nullptr) ticker_->enter();
  return w;
}

worker& scheduler_core::find_seat() {
  bool taken = false;
  // [SE1] acquire: what the worker's last thread left behind, from [SE2].
  if (!seat_taken_.load(std::memory_order_relaxed) &&
      seat_taken_.compare_exchange_strong(taken, true, std::memory_order_acquire, std::memory_order_relaxed)) {
    worker& seat = team_[0];
    seat.attached.store(true, std::memory_order_relaxed);  // seen late: somebody gets a stand-in for nothing
    seat_binding_.begin(seat.location.processor);
    return seat;
  }
  return find_guest();
}

worker& scheduler_core::find_guest() {
  const std::lock_guard lock(guests_mutex_);
  // The lowest, so that those who take part are few in a row.
  const auto free = std::find(guests_.begin(), guests_.end(), false);
  const auto first = static_cast<std::uint32_t>(chosen_.workers);
  const std::uint32_t number = first + static_cast<std::uint32_t>(free - guests_.begin());
  if (free == guests_.end()) {
    guests_.reserve(guests_.size() + 1);
    add_worker(platform::place_of_guest(chosen_.pinning));
    guests_.push_back(true);
  } else {
    *free = true;
    if (number >= team_.size()) team_.take_part(number + 1);
  }
  // Nobody has asked it while it did not take part.
  team_[number].raise();
  team_[number].attached.store(true, std::memory_order_relaxed);  // as the seat
  return team_[number];
}

void scheduler_core::leave(worker& w) noexcept {
  w.attached.store(false, std::memory_order_seq_cst);  // [SP6]
  // Who sleeps in a wait looks again whether it is the last one, and gets a stand-in.
  if (nobody_is_available(w)) wake_waiters(w.common);
}

void scheduler_core::detach(worker& w) noexcept {
  leave(w);
  if (ticker_ != nullptr) ticker_->leave();
  if (w.number == 0) {
    seat_binding_.end();
    seat_taken_.store(false, std::memory_order_release);  // [SE2]
    return;
  }
  // In a child that was made in the call a thread of the parent may have the lock.
  if (!is_of_this_process()) return;
  const std::lock_guard lock(guests_mutex_);
  const auto first = static_cast<std::uint32_t>(chosen_.workers);
  guests_[w.number - first] = false;
  std::uint32_t size = team_.size();
  // Who has left background tasks behind goes on taking part, until somebody has taken them.
  while (size > first && !guests_[size - first - 1] && !team_[size - 1].detached.queue.has_tasks()) --size;
  if (size != team_.size()) team_.take_part(size);
}

void scheduler_core::begin_thread(worker& w) noexcept {
  if (chosen_.on_start) chosen_.on_start(w.number);
  w.begin_on_this_thread();
  // A thread that is bound for good needs no binding while it sleeps.
  if (w.location.processor == platform::no_processor) w.parker.bind_while_asleep();
  if (interrupts_wanted()) platform::accept_interrupts();
  {
    idle_wait waiting(*this, w, stopping_);
    wait_until_over(waiting, w.common.spin_ns);
  }
  {
    // Tasks may run for long after that, and nobody is to rely on a search that has ended.
    const busy_section here(w);
    sleepers_.end_search(w);
  }
  leave(w);
  if (chosen_.on_stop) chosen_.on_stop(w.number);
}

void scheduler_core::serve(worker& w, const platform::atomic<bool>& until) noexcept {
  const busy_section here(w);
  // It is nowhere meanwhile, and has nothing to give.
  const task_place outer_place = std::exchange(w.place, {});
  const bool outer_diverts = std::exchange(w.diverts, false);
  w.raise();
  w.note_nothing();
  {
    const outside_of_construct outside(w);
    idle_wait waiting(*this, w, until);
    wait_until_over(waiting, w.common.spin_ns);
  }
  sleepers_.end_search(w);
  w.occupied();
  w.place = outer_place;
  w.diverts = outer_diverts;
  w.begin_work();
}

void scheduler_core::begin_profile(worker& w, bool is_root) {
  if (!is_profiled()) return;
  if (w.outer != nullptr && w.outer->profile != nullptr) {
    set_profile(w, w.outer->profile);
  } else if (is_root) {
    begin_root_of_profile(w);
  }
}

void scheduler_core::end_profile(worker& w) noexcept {
  if (!w.profile) return;
  const bool is_root = w.outer == nullptr || w.profile != w.outer->profile;
  if (is_root) {
    process_profile::add(w.profile->end_root());
    process_profile::end_root(w.profile->since_ns());
  }
  clear_profile(w);
}

void scheduler_core::begin_profile(worker& w, const group_rest& of) {
  begin_root_of_profile(w);
  w.profile->begin_group(of);
}

void scheduler_core::end_profile(worker& w, group_rest& of) noexcept {
  of.add_profile(w.profile->end_root());
  process_profile::end_root(w.profile->since_ns());
  clear_profile(w);
}

void scheduler_core::begin_recording() {
  const std::lock_guard lock(guests_mutex_);
  if (std::exchange(is_recorded_, true)) {
    throw std::logic_error(
        "filch: a trace of a scheduler that is recorded already; end that one, or unset FILCH_TRACE");
  }
  try {
    for (std::uint32_t i = 0; i < team_.most(); ++i) team_[i].trace.start();
  } catch (const std::bad_alloc&) {
    for (std::uint32_t i = 0; i < team_.most(); ++i) team_[i].trace.stop();
    is_recorded_ = false;
    throw;
  }
}

void scheduler_core::end_recording() noexcept {
  const std::lock_guard lock(guests_mutex_);
  is_recorded_ = false;
  for (std::uint32_t i = 0; i < team_.most(); ++i) team_[i].trace.stop();
}

recorded_team scheduler_core::recorded() const {
  const std::lock_guard lock(guests_mutex_);
  recorded_team all{static_cast<std::uint32_t>(chosen_.workers), chosen_.policy, {}};
  for (std::uint32_t i = 0; i < team_.most(); ++i) {
    team_[i].trace.read([&](const platform::trace_event& e) { all.events.push_back({e, i}); });
  }
  return all;
}

statistics scheduler_core::stats() const {
  const std::lock_guard lock(stats_mutex_);
  statistics sum = total(team_);
  for (const auto& pair : counter_pairs) sum.*pair.to -= forgotten_.*pair.to;
  // Of a stretch that ends while it is looked at, the time may be a little less than it seemed to be.
  sum.idle_ns -= std::min(sum.idle_ns, forgotten_.idle_ns);
  sum.wait_ns -= std::min(sum.wait_ns, forgotten_.wait_ns);
  return sum;
}

void scheduler_core::reset_stats() {
  const std::lock_guard lock(stats_mutex_);
  forgotten_ = total(team_);
}

}  // namespace filch::detail
