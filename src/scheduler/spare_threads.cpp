#include "scheduler/spare_threads.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <mutex>
#include <utility>

#include <filch/blocking.hpp>
#include <filch/future.hpp>

#include "scheduler/scheduler_core.hpp"
#include "worker/kept_tasks.hpp"
#include "worker/policy.hpp"
#include "worker/stand_in.hpp"
#include "worker/worker.hpp"

namespace filch {
namespace detail {

spare_thread::spare_thread(scheduler_core& home)
    : home_(home), thread_(platform::worker_stack_bytes(), [this] { run(); }, platform::no_processor, "filch-spare") {}

void spare_thread::begin(group_rest* only) noexcept {
  only_.store(only);
  comes_ = true;
  released_.store(false, std::memory_order_relaxed);  // nobody serves: published by the next line
  // [SP1] release: the lines before, for the thread.
  wanted_.store(true, std::memory_order_release);
  parker_.unpark();
}

bool spare_thread::begin_again(const worker* blocked) noexcept {
  // It would go on with submitted tasks alone. Written under the same lock.
  if (only_.load() != nullptr) return false;
  // It may be what is blocked now, and cannot take its own place. relaxed: then the caller has written it.
  if (blocked != nullptr && serving_.load(std::memory_order_relaxed) == blocked) return false;
  // [SP5] relaxed: it looks once more under the lock.
  if (is_free_ || !released_.load(std::memory_order_relaxed)) return false;
  released_.store(false, std::memory_order_relaxed);
  return true;
}

void spare_thread::release(bool from_service) noexcept {
  // [SP2] seq_cst: before the look for who serves; pairs with [SP3]: it sees this before it sleeps, or is seen here.
  released_.store(true, std::memory_order_seq_cst);
  worker* const w = serving_.load(std::memory_order_seq_cst);
  if (w != nullptr && !from_service) {
    home_.wake_server(*w);
  } else {
    (w != nullptr ? w->parker : parker_).unpark();  // who serves a group is no idle worker
  }
}

void spare_thread::stop() noexcept {
  // [SP4] release: that it was begun for the last time, [SP1], which the lock of all has brought here. No exploration
  // catches this: the thread would have to miss a store that was there long before.
  stopping_.store(true, std::memory_order_release);
  parker_.unpark();
  thread_.join();
}

void spare_thread::run() noexcept {
  if (home_.chosen().on_start) home_.chosen().on_start(-1);
  for (;;) {
    // [SP4] acquire: before the look whether it is wanted, which then sees the last begin().
    const bool is_last = stopping_.load(std::memory_order_acquire);
    // [SP1] acquire
    if (wanted_.exchange(false, std::memory_order_acquire)) {
      do {
        serve();
      } while (!home_.spares().give_back(*this));
    } else if (is_last) {
      break;
    } else {
      parker_.park();
    }
  }
  if (home_.chosen().on_stop) home_.chosen().on_stop(-1);
}

void spare_thread::has_come() noexcept {
  if (std::exchange(comes_, false)) home_.spares().count_come();
}

void spare_thread::serve() noexcept {
  try {
    home_.run_as_guest([this](worker& w) {
      has_come();
      // [SP3] before the look whether it is released.
      serving_.store(&w, std::memory_order_seq_cst);
      if (group_rest* const only = only_.load()) {
        home_.injected().serve(w, *only, released_);
      } else {
        home_.serve(w, released_);
      }
      serving_.store(nullptr, std::memory_order_relaxed);
    });
  } catch (const std::exception&) {
    // No memory for a worker, or too many: the place stays empty. It is nobody else's until it is released.
    has_come();
    // relaxed: who releases it unparks, which orders it.
    while (!released_.load(std::memory_order_relaxed)) parker_.park();
  }
}

// Under the lock, and so before the thread is stopped.
spare_thread& spare_threads::begin_any(worker* blocked, group_rest* only) {
  const auto first = all_.begin() + static_cast<std::ptrdiff_t>(stopped_);
  // Else each region of a worker that often blocks for a short time would begin a further thread that computes. But those
  // may all wait for this worker.
  if (blocked != nullptr && !nobody_is_available(*blocked)) {
    const auto at_work = std::find_if(first, all_.end(), [&](const auto& each) { return each->begin_again(blocked); });
    if (at_work != all_.end()) return **at_work;
  }
  const auto free = std::find_if(first, all_.end(), [](const auto& each) { return each->is_free_; });
  spare_thread* taken = free != all_.end() ? free->get() : nullptr;
  if (taken == nullptr) {
    all_.reserve(all_.size() + 1);  // a thread that runs must not be lost
    taken = all_.emplace_back(std::make_unique<spare_thread>(home_)).get();
  }
  taken->is_free_ = false;
  count_coming();
  taken->begin(only);
  return *taken;
}

bool spare_threads::give_back(spare_thread& t) noexcept {
  const std::lock_guard lock(mutex_);
  t.is_free_ = t.released_.load(std::memory_order_relaxed);  // [SP5]
  return t.is_free_;
}

void spare_threads::hand_over(kept_tasks& own) {
  auto run_row = [row = own.left()] {
    auto& w = static_cast<worker&>(*self);
    const busy_section here(w);
    kept_tasks(w, row).run_all();
  };
  using body = decltype(run_row);
  const auto made = make_future_state<submitted_task<future_value<body>, body>>(run_row);
  home_.background_tasks().submit(*made, *made);
  own.give_away();
}

void spare_threads::hand_over_kept(worker& from) noexcept {
  try {
    for (kept_tasks* each = from.kept; each != nullptr; each = each->outer()) {
      if (!each->is_empty()) hand_over(*each);
    }
  } catch (const std::exception&) {
    // Their owner has them still.
  }
}

stand_in* spare_threads::begin(worker& blocked) noexcept {
  // What a place keeps for each of its workers it has for no other thread.
  if (blocked.common.is_place) return nullptr;
  try {
    const std::lock_guard lock(mutex_);
    return &begin_any(&blocked, nullptr);
  } catch (const std::exception&) {
    return nullptr;
  }
}

void spare_threads::keep_one(group_rest& only) {
  const std::lock_guard lock(mutex_);
  kept_ = &begin_any(nullptr, &only);
}

spare_thread* spare_threads::take_last_time() noexcept {
  const std::lock_guard lock(mutex_);
  if (kept_ != nullptr) std::exchange(kept_, nullptr)->end_service();
  return stopped_ == all_.size() ? nullptr : all_[stopped_++].get();
}

void spare_threads::stop() noexcept {
  // Those that are blocked begin others. Who was blocked looks at the thread that took its place when that may have ended
  // already ([SP2]): so the objects last until no thread runs.
  while (spare_thread* const next = take_last_time()) next->stop();
  all_.clear();
  stopped_ = 0;
}

}  // namespace detail

blocking::blocking() noexcept : worker_(detail::worker::of_this_thread()) { detail::block(worker_); }

blocking::~blocking() { detail::unblock(worker_); }

}  // namespace filch
