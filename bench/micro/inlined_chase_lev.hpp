// A Chase-Lev deque with its owner's operations inlined and nothing else: no policy, no attention word, no thieves.
// What filch's `chase_lev` costs above it is the price of choosing a policy at run time.
//
// Chase and Lev, SPAA 2005, in the C11 form of Le et al., PPoPP 2013, with the store-load ordering of `pop` in the two
// operations themselves. The ring does not grow.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace filch::bench {

class inlined_chase_lev {
 public:
  /// Owner only. At most `capacity` tasks at a time.
  void push(void* task) {
    // relaxed: only the owner writes bottom_.
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
    ring_[index(bottom)].store(task, std::memory_order_relaxed);
    // release: a thief that sees the new bottom sees the task.
    bottom_.store(bottom + 1, std::memory_order_release);
  }

  /// Owner only. The newest task, or null where thieves have taken all.
  void* pop() {
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed) - 1;
    // seq_cst on both: the store must be visible before top_ is read, or owner and thief take the same task.
    bottom_.store(bottom, std::memory_order_seq_cst);
    std::int64_t top = top_.load(std::memory_order_seq_cst);
    void* task = ring_[index(bottom)].load(std::memory_order_relaxed);
    if (top < bottom) [[likely]]
      return task;
    // The last one: whoever moves top_ has it.
    const bool is_ours = top == bottom && top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst,
                                                                       std::memory_order_relaxed);
    bottom_.store(bottom + 1, std::memory_order_relaxed);
    return is_ours ? task : nullptr;
  }

 private:
  static constexpr std::size_t capacity = 1024;
  static std::size_t index(std::int64_t position) { return static_cast<std::size_t>(position) % capacity; }

  alignas(64) std::atomic<std::int64_t> top_{0};
  alignas(64) std::atomic<std::int64_t> bottom_{0};
  alignas(64) std::array<std::atomic<void*>, capacity> ring_{};
};

}  // namespace filch::bench
