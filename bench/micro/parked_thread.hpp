// A thread that sleeps until it is woken, again and again: with it, the price of waking a thread is measured apart from
// any scheduler.
#pragma once

#include <atomic>
#include <cstddef>
#include <thread>

#include <pthread.h>
#include <sched.h>

namespace filch::bench {

class parked_thread {
 public:
  parked_thread() = default;
  parked_thread(const parked_thread&) = delete;
  parked_thread& operator=(const parked_thread&) = delete;
  ~parked_thread() {
    stop_.store(true, std::memory_order_relaxed);  // relaxed: published by the wake that follows
    wake();
  }

  /// Binds the thread to all processors but the caller's, so that a wake-up goes to another processor, as that of a
  /// worker does. Nothing happens where there is only one.
  void keep_off_this_processor() {
    cpu_set_t others;
    if (sched_getaffinity(0, sizeof others, &others) != 0) return;
    CPU_CLR(static_cast<std::size_t>(sched_getcpu()), &others);
    pthread_setaffinity_np(thread_.native_handle(), sizeof others, &others);
  }

  /// Costs the caller one futex wake when the thread is asleep. Any thread.
  void wake() {
    wakes_.fetch_add(1, std::memory_order_release);
    wakes_.notify_one();
  }

 private:
  void sleep_and_wake() {
    int seen = 0;
    while (!stop_.load(std::memory_order_relaxed)) {
      // acquire: pairs with wake, after which stop_ is seen.
      wakes_.wait(seen, std::memory_order_acquire);
      seen = wakes_.load(std::memory_order_acquire);
    }
  }

  std::atomic<bool> stop_{false};
  std::atomic<int> wakes_{0};
  std::jthread thread_{[this] { sleep_and_wake(); }};  // last: it uses the others
};

}  // namespace filch::bench
