// The life of a scheduler: its workers, their threads, seats for callers, and what idle workers do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <filch/platform/memory.hpp>
#include <filch/scheduler.hpp>

#include "platform/affinity.hpp"
#include "platform/placement.hpp"
#include "platform/process.hpp"
#include "platform/thread.hpp"
#include "platform/watched.hpp"
#include "scheduler/background.hpp"
#include "scheduler/configuration.hpp"
#include "scheduler/injector.hpp"
#include "scheduler/lookout.hpp"
#include "scheduler/poller.hpp"
#include "scheduler/process_profile.hpp"
#include "scheduler/process_schedule.hpp"
#include "scheduler/spare_threads.hpp"
#include "scheduler/ticker.hpp"
#include "scheduler/trace_file.hpp"
#include "worker/interrupter.hpp"
#include "worker/policy.hpp"
#include "worker/sleepers.hpp"
#include "worker/striped_mutex.hpp"
#include "worker/team.hpp"

namespace filch::detail {

class scheduler_core {
 public:
  scheduler_core(scheduler& home, configuration chosen, const place_hooks& place);
  ~scheduler_core();
  /// Runs what is queued, and stops. Before the destructor: the tasks use the scheduler. False: the caller is one of them, so
  /// nothing may end.
  [[nodiscard]] bool close() noexcept;
  scheduler_core(const scheduler_core&) = delete;
  scheduler_core& operator=(const scheduler_core&) = delete;

  /// Whose worker the calling thread is; else that of the default scheduler. Throws as scheduler::default_scheduler().
  [[nodiscard]] static scheduler_core& of_caller_or_default();

  /// May be gone: a task of its own may have ended it.
  [[nodiscard]] scheduler& home() const noexcept { return home_; }
  /// As scheduler::run, also when that is gone, as a task of its own may have seen to.
  template <class F>
  decltype(auto) run(F&& f) {
    return run_as(true, std::forward<F>(f));
  }
  /// The same for what runs tasks, each of which is a root of the profile.
  template <class F>
  decltype(auto) run_tasks(F&& f) {
    return run_as(false, std::forward<F>(f));
  }
  /// Any thread. A worker for the calling thread: the seat when it is free, else a guest.
  /// Throws std::runtime_error when there are too many guests.
  worker& attach();
  /// Calls f(worker) on the calling thread, which is a guest for that time, and runs tasks. Throws as attach().
  template <class F>
  void run_as_guest(const F& f);
  void begin_root(worker& w) noexcept { policy_->begin_root(w); }
  /// The attached thread leaves.
  void detach(worker& w) noexcept;

  /// The worker of the calling thread, which runs its root and has no task pending, does what idle workers do until that
  /// is set. Who sets it, by a sequentially consistent operation, tells the worker by wake_server().
  void serve(worker& w, const platform::atomic<bool>& until) noexcept;
  /// Any thread.
  void wake_server(worker& w) noexcept { sleepers_.deliver(w); }
  /// Whose scheduler it is; null: no place's.
  [[nodiscard]] places::place* place() const noexcept { return place_; }
  /// The worker of the seat.
  [[nodiscard]] worker& seat() noexcept { return team_[0]; }

  /// From now on what workers do is recorded, until end_recording(). Throws std::logic_error if it is already;
  /// std::bad_alloc.
  void begin_recording();
  void end_recording() noexcept;
  /// What was recorded last, or until now. Throws std::bad_alloc.
  [[nodiscard]] recorded_team recorded() const;

  /// What the seat runs until end_schedule(), with all of its frames below that one, is part of the schedule that is recorded
  /// or replayed, if one is. Throws std::bad_alloc.
  void begin_schedule(worker& w, const void* frame) {
    if (w.number == 0 && w.outer == nullptr) schedule_.begin_root(w, frame);
  }
  void end_schedule(worker& w) noexcept {
    if (w.number == 0) schedule_.end_root(w);
  }

  [[nodiscard]] bool is_profiled() const noexcept { return process_profile_.is_wanted(); }
  /// What the worker runs until end_profile() is profiled, if FILCH_PROFILE is set: inside of another scheduler's task as a part
  /// of that, elsewhere as a root, or not at all.
  void begin_profile(worker& w, bool is_root);
  void end_profile(worker& w) noexcept;
  /// The same, of a root that is a task of a group.
  static void begin_profile(worker& w, const group_rest& of);
  static void end_profile(worker& w, group_rest& of) noexcept;

  [[nodiscard]] statistics stats() const;
  void reset_stats();
  [[nodiscard]] const configuration& chosen() const noexcept { return chosen_; }
  [[nodiscard]] injector& injected() noexcept { return injected_; }
  [[nodiscard]] background& background_tasks() noexcept { return background_; }
  [[nodiscard]] const background& background_tasks() const noexcept { return background_; }
  [[nodiscard]] spare_threads& spares() noexcept { return spares_; }
  [[nodiscard]] sleepers& idle_workers() noexcept { return sleepers_; }
  /// Is every task run where it is made?
  [[nodiscard]] bool runs_at_once() const noexcept { return policy_->runs_at_once(); }
  /// There is a thread that runs what is queued of that group, until the scheduler ends; in a place of one worker that is this, when
  /// it serves. Once. Throws std::system_error when there is none to be had.
  void need_thread_for(group_rest& tasks) {
    if (threads_.empty() && place_ == nullptr) spares_.keep_one(tasks);
  }

 private:
  class idle_wait;

  template <class F>
  decltype(auto) run_as(bool is_root, F&& f);

  [[nodiscard]] bool interrupts_wanted() const noexcept {
    return chosen_.interrupt_after_ns != 0 || chosen_.interrupt_every_ns != 0;
  }
  worker& add_worker(const platform::worker_place& at);
  worker& find_seat();
  worker& find_guest();
  /// False in a child process after fork(), where none of its threads is.
  [[nodiscard]] bool is_of_this_process() const noexcept { return platform::this_process() == process_; }
  /// Its thread takes part no longer.
  void leave(worker& w) noexcept;
  void stop() noexcept;
  void begin_thread(worker& w) noexcept;

  scheduler& home_;
  const platform::process_id process_ = platform::this_process();  ///< that has its threads
  const configuration chosen_;
  const std::unique_ptr<policy> policy_;
  team team_;
  sleepers sleepers_;
  interrupter interrupter_;
  striped_mutex mutexes_;
  injector injected_;
  background background_;
  std::vector<work_source*> sources_;  ///< where idle workers look beside the policy, in this order
  poller* const network_;
  places::place* const place_;
  platform::atomic<bool> stopping_{false};
  // Written by threads that come and go, apart from what idle workers look at all the time.
  alignas(64) platform::atomic<bool> seat_taken_{false};
  mutable platform::mutex guests_mutex_;
  std::vector<bool> guests_;  ///< by number, less that of the first: is it taken?
  const process_trace process_trace_;
  const process_profile process_profile_;
  process_schedule schedule_;
  bool is_recorded_;  ///< under the guests' lock
  mutable platform::mutex stats_mutex_;
  statistics forgotten_;  ///< what reset_stats has taken off
  std::vector<std::unique_ptr<platform::thread>> threads_;
  spare_threads spares_;
  std::unique_ptr<ticker> ticker_;            ///< null: none is wanted
  std::unique_ptr<lookout> lookout_;          ///< null: there are processors enough
  platform::processor_binding seat_binding_;  ///< of the thread that has the seat
  /// From the constructor's end on.
  std::optional<platform::watched_entry> watched_;
};

template <class F>
decltype(auto) scheduler_core::run_as(bool is_root, F&& f) {
  const worker* const w = worker::of_this_thread();
  if (w != nullptr && &w->core == this) return std::forward<F>(f)();
  const attachment here(attach(), is_root);
  return run_attached(std::forward<F>(f));
}

template <class F>
void scheduler_core::run_as_guest(const F& f) {
  worker& w = find_guest();
  if (ticker_ != nullptr) ticker_->enter();
  const attachment here(w, false);
  f(w);
}

}  // namespace filch::detail
