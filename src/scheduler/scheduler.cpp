#include <filch/combinations.hpp>
#include <filch/scheduler.hpp>

#include "scheduler/scheduler_core.hpp"
#include "worker/worker.hpp"

namespace filch {

scheduler::scheduler(const options& chosen) : scheduler(chosen, detail::place_hooks{}) {}

scheduler::scheduler(const options& chosen, const detail::place_hooks& place)
    : core_(std::make_unique<detail::scheduler_core>(*this, detail::configure(chosen), place)) {}

scheduler::~scheduler() { core_->close(); }

statistics scheduler::stats() const { return core_->stats(); }

void scheduler::reset_stats() { core_->reset_stats(); }

int scheduler::workers() const noexcept { return core_->chosen().workers; }

std::string_view scheduler::policy() const noexcept { return core_->chosen().policy; }

std::string_view scheduler::join() const noexcept { return core_->chosen().join; }

std::string_view scheduler::loop() const noexcept { return name_of(core_->chosen().loop); }

std::string_view scheduler::pinning() const noexcept { return name_of(core_->chosen().pinning); }

std::int64_t scheduler::deal_interval_ns() const noexcept { return core_->chosen().deal_interval_ns; }

std::int64_t scheduler::level_attempts() const noexcept { return core_->chosen().level_attempts; }

std::int64_t scheduler::spin_ns() const noexcept { return core_->chosen().spin_ns; }

std::int64_t scheduler::interrupt_after_ns() const noexcept { return core_->chosen().interrupt_after_ns; }

std::int64_t scheduler::interrupt_every_ns() const noexcept { return core_->chosen().interrupt_every_ns; }

scheduler& scheduler::default_scheduler() {
  // Never destroyed: static objects may fork tasks in their destructors, in whatever order those run, and a child
  // process after fork() has no threads to join.
  static scheduler& instance = *new scheduler;
  return instance;
}

int this_worker() noexcept {
  const detail::worker* const w = detail::worker::of_this_thread();
  return w != nullptr ? w->number : -1;
}

namespace detail {

attachment::attachment(scheduler& home) {
  detail::worker& w = home.core().attach();
  w.inner.frame = this;
  w.outer = worker::of_this_thread();
  worker_ = &w;
  w.begin_on_this_thread();
  w.begin_work();
  home.core().begin_root(w);
  w.busy.store(false);
}

attachment::~attachment() {
  auto& w = static_cast<worker&>(*worker_);
  w.busy.store(true);
  if (w.head.load() != w.base) settle(w, w.base);
  w.place = {};
  w.diverts = false;
  w.note_nothing();
  self = w.outer != nullptr ? w.outer : &foreign_worker;
  w.home->core().detach(w);
}

}  // namespace detail
}  // namespace filch
