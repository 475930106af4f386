// Chains of work that workers take from each other in turn, and how much of the C++ stack that needs.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "support.hpp"

namespace filch::tests {

/// How much of the C++ stack the calls of here() lie apart, on that thread where it is most.
class stack_use {
 public:
  void here() {
    const auto at = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    static thread_local std::pair<std::uint64_t, range*> mine{};
    if (mine.first != number_) mine = {number_, &range_of_thread(at)};
    mine.second->low = std::min(mine.second->low, at);
    mine.second->high = std::max(mine.second->high, at);
  }
  /// For who has seen all calls end.
  [[nodiscard]] std::size_t most() const {
    std::size_t most = 0;
    for (const range& each : ranges_) most = std::max<std::size_t>(most, each.high - each.low);
    return most;
  }

 private:
  struct range {
    std::uintptr_t low;
    std::uintptr_t high;
  };
  range& range_of_thread(std::uintptr_t at) {
    const std::lock_guard lock(mutex_);
    return ranges_.emplace_back(range{at, at});
  }
  static inline std::atomic<std::uint64_t> made_{0};

  const std::uint64_t number_ = ++made_;  ///< a later one may lie at the same address
  std::mutex mutex_;
  std::deque<range> ranges_;
};

/// A chain of work, each link of which is to be begun by another thread than the one before: the first at least, and
/// others as far as somebody comes for them in time.
class chain_account {
 public:
  explicit chain_account(std::size_t size) : links(size) {}
  /// A link begins. Links begin one after the other.
  void begins(std::size_t link) {
    stack.here();
    links.ran(link);
    if (std::exchange(last_, std::this_thread::get_id()) != std::this_thread::get_id()) {
      if (link != 0) handed_on_.store(true, std::memory_order_relaxed);
    }
    begun_.store(link + 1, std::memory_order_release);
  }
  [[nodiscard]] bool has_begun(std::size_t link) const { return begun_.load(std::memory_order_acquire) > link; }
  /// Did another thread than the one before begin a link? Whoever has shared the next one is to wait for that.
  [[nodiscard]] bool handed_on() const { return handed_on_.load(std::memory_order_relaxed); }

  /// A turn of waiting. Beyond the first link without a yield, which may take long where others are busy.
  void wait() const {
    if (!handed_on()) return std::this_thread::yield();
    volatile int turns = 50;
    while (turns != 0) turns = turns - 1;
  }

  account links;
  stack_use stack;

 private:
  std::thread::id last_;
  std::atomic<bool> handed_on_{false};
  std::atomic<std::size_t> begun_{0};
};

}  // namespace filch::tests
