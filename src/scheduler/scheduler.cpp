#include <memory>
#include <new>
#include <system_error>

#include <filch/combinations.hpp>
#include <filch/scheduler.hpp>

#include "platform/clock.hpp"
#include "platform/process.hpp"
#include "scheduler/scheduler_core.hpp"
#include "worker/worker.hpp"

namespace filch {

scheduler::scheduler(const options& chosen) : scheduler(chosen, detail::place_hooks{}) {}

scheduler::scheduler(int workers) : scheduler(options{.workers = workers}) {}

scheduler::scheduler(const options& chosen, const detail::place_hooks& place) {
  detail::configuration all = detail::configure(chosen);
  // If the system refuses threads or memory for them: fewer, unless the program has said how many.
  const auto may_be_fewer = [&] { return !all.workers_are_said && all.workers > 1; };
  while (core_ == nullptr) {
    try {
      core_ = new detail::scheduler_core(*this, all, place);
    } catch (const std::system_error&) {
      if (!may_be_fewer()) throw;
      all.workers /= 2;
    } catch (const std::bad_alloc&) {
      if (!may_be_fewer()) throw;
      all.workers /= 2;
    }
  }
}

scheduler::~scheduler() {
  if (core_->close()) delete core_;
}

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

namespace {

struct default_one {
  platform::atomic<scheduler*> made{nullptr};
  platform::atomic<bool> is_in_making{false};  ///< by one thread: each further one would start as many threads
};

default_one& the_default() noexcept {
  static default_one one;
  return one;
}

// When the library is loaded, not when a scheduler is first made: of a thread that was in the middle of that, a child process
// has what it has locked, and what it has left half done, the dynamic linker's state among others.
[[maybe_unused]] const bool is_prepared_for_fork = []() noexcept {
  try {
    static_cast<void>(combinations());  // and with it all tables that it is made of
    static_cast<void>(ways_to_split());
  } catch (const std::bad_alloc&) {
    // They are made later.
  }
  platform::without_fork::prepare();
  platform::call_in_children([] {
    // relaxed: the only thread. The task that it may be in the middle of is another process's, and so is the thread that may
    // have been in the middle of making one.
    the_default().made.store(nullptr, std::memory_order_relaxed);
    the_default().is_in_making.store(false, std::memory_order_relaxed);
    detail::self = &detail::foreign_worker;
  });
  return true;
}();

}  // namespace

scheduler& scheduler::default_scheduler() {
  // Never destroyed: static objects may fork tasks in their destructors, in whatever order those run, and a child
  // process after fork() has no threads to join.
  default_one& one = the_default();
  for (;;) {
    // [DS1] acquire: the object, from [DS2].
    if (scheduler* const found = one.made.load(std::memory_order_acquire)) [[likely]]
      return *found;
    // [DS3] acquire: what the one before has made, for the look below.
    if (!one.is_in_making.exchange(true, std::memory_order_acquire)) break;
    platform::yield();  // at once: whoever makes it starts threads, which takes long
  }
  struct end_of_making {
    default_one& one;
    ~end_of_making() { one.is_in_making.store(false, std::memory_order_release); }  // [DS3] release: [DS2]
  } const here{one};
  if (one.made.load(std::memory_order_relaxed) == nullptr) {
    one.made.store(std::make_unique<scheduler>().release(), std::memory_order_release);  // [DS2] release: the object
  }
  return *one.made.load(std::memory_order_relaxed);
}

filch::scheduler& worker_id::home_or_default() const {
  return scheduler != nullptr ? *scheduler : filch::scheduler::default_scheduler();
}

worker_id this_worker() noexcept {
  const detail::worker* const w = detail::worker::of_this_thread();
  if (w == nullptr) return {};
  return {w->number, w->core.chosen().workers + scheduler::most_guests, &w->core.home()};
}

namespace detail {

void keep_loaded(const void* address) noexcept { platform::keep_loaded(address); }

int index_in(const scheduler_core& of) noexcept {
  for (const worker* w = worker::of_this_thread(); w != nullptr; w = w->outer) {
    if (w->home == &of) return w->number;
  }
  return -1;
}

namespace {

/// The calling thread is that worker no more.
void end_attachment(worker& w) noexcept {
  w.trace.end("run", w.root_since_ns, 0);
  w.place = {};
  w.diverts = false;
  w.note_nothing();
  self = w.outer != nullptr ? w.outer : &foreign_worker;
  w.core.detach(w);
}

}  // namespace

attachment::attachment(scheduler& home) : attachment(home.core().attach(), true) {}

attachment::attachment(worker& w, bool is_root) {
  w.inner.frame = this;
  w.outer = worker::of_this_thread();
  worker_ = &w;
  w.begin_on_this_thread();
  w.begin_work();
  w.root_since_ns = w.trace.begin();
  w.core.begin_root(w);
  try {
    w.core.begin_profile(w, is_root);
    w.core.begin_schedule(w, this);
  } catch (...) {
    end_attachment(w);
    throw;
  }
  w.busy.store(false);
}

attachment::~attachment() {
  auto& w = static_cast<worker&>(*worker_);
  w.busy.store(true);
  w.core.end_profile(w);
  if (w.head.load() != w.base) settle(w, w.base);
  w.core.end_schedule(w);
  end_attachment(w);
}

}  // namespace detail
}  // namespace filch
