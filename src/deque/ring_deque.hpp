// The dynamic circular deque of Chase and Lev (2005), with a ring that grows, of pointers.
//
// Follows the C11 formulation of Lê, Pop, Cohen and Zappa Nardelli (2013) except that its two stand-alone fences are
// sequentially consistent operations on `bottom_` and `top_`.
//
// Who may call what: push and pop are the owner's; steal, size and the rest any thread.
//
// Invariants
//  1. top_ only grows. Entry i is the owner's to change unless top_ <= i < bottom_.
//  2. An entry between top_ and bottom_ does not change while top_ stays; so a thief that reads the entry and then
//     moves top_ from the value it saw has the entry's task.
//  3. Rings that were outgrown live until the deque ends, since a late thief may still read one.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <filch/platform/memory.hpp>

namespace filch::detail::deque {

template <class T>
class ring_deque {
 public:
  explicit ring_deque(std::int64_t capacity = 256) {
    rings_.push_back(std::make_unique<ring>(capacity));
    ring_.store(rings_.back().get(), std::memory_order_relaxed);  // before the deque is shared
  }

  /// Owner only. May throw std::bad_alloc when the ring has to grow.
  void push(T* item) {
    const std::int64_t b = bottom_.load(std::memory_order_relaxed);  // owner's own
    // [CL1] acquire: an entry whose steal [CL6] is seen may be written again. No exploration catches this: what it
    // forbids is that the thief reads a store which depends on its own later one, and the explorer has no such
    // executions (load buffering).
    const std::int64_t t = top_.load(std::memory_order_acquire);
    ring* r = ring_.load(std::memory_order_relaxed);  // owner's own
    if (b - t >= r->capacity()) r = grow(*r, t, b);
    r->put(b, item);
    // [CL2] seq_cst: releases the entry and what it points to, for [CL5]; and comes before the look for sleepers
    // ([SL1]) in the one total order.
    bottom_.store(b + 1, std::memory_order_seq_cst);
  }

  /// Owner only. The newest entry, or null when there is none.
  T* pop() noexcept {
    const std::int64_t b = bottom_.load(std::memory_order_relaxed) - 1;  // owner's own
    ring* const r = ring_.load(std::memory_order_relaxed);
    // [CL3] seq_cst, with the load of top_ below: the owner and a thief cannot both overlook each other; pairs with
    // [CL4] and [CL5].
    bottom_.store(b, std::memory_order_seq_cst);
    std::int64_t t = top_.load(std::memory_order_seq_cst);
    if (t > b) {
      bottom_.store(b + 1, std::memory_order_relaxed);  // empty; nothing is published
      return nullptr;
    }
    T* item = r->get(b);
    if (t == b) {
      // [CL9] relaxed: of the last entry; whoever moves top_ has it, only one can, and it is the owner's own work.
      if (!top_.compare_exchange_strong(t, t + 1, std::memory_order_relaxed, std::memory_order_relaxed)) item = nullptr;
      bottom_.store(b + 1, std::memory_order_relaxed);
    }
    return item;
  }

  /// What a thief saw of the oldest entry.
  struct view {
    std::int64_t top;
    T* item;  ///< null: empty
  };

  /// The oldest entry, for `take`. Any thread.
  [[nodiscard]] view oldest() const noexcept {
    // [CL4] seq_cst: before [CL5] in the one total order; see [CL3].
    const std::int64_t t = top_.load(std::memory_order_seq_cst);
    // [CL5] seq_cst: acquires the entry from [CL2].
    const std::int64_t b = bottom_.load(std::memory_order_seq_cst);
    if (t >= b) return {t, nullptr};
    // [CL7] acquire: the entries copied by grow.
    return {t, ring_.load(std::memory_order_acquire)->get(t)};
  }

  /// Takes the entry that was seen. Any thread. False: somebody else has it.
  [[nodiscard]] bool take(const view& seen) noexcept {
    std::int64_t expected = seen.top;
    // [CL6] release: to [CL1], that the entry has been read. That the owner does not pop the entry as well follows from
    // the loads before: if [CL5] came before [CL3], so did [CL4], and the owner's load of top_ sees what that saw.
    // No exploration catches this: see [CL1].
    return top_.compare_exchange_strong(expected, seen.top + 1, std::memory_order_release, std::memory_order_relaxed);
  }

  /// A hint: the entry that was taken last, or null. Any thread.
  [[nodiscard]] T* last_taken() const noexcept {
    const std::int64_t t = top_.load(std::memory_order_relaxed);
    return t == 0 ? nullptr : ring_.load(std::memory_order_acquire)->get(t - 1);  // [CL7]
  }

  [[nodiscard]] bool empty() const noexcept { return oldest().item == nullptr; }

  /// A hint: how many entries there are. Any thread.
  [[nodiscard]] std::int64_t size() const noexcept {
    const std::int64_t n = bottom_.load(std::memory_order_relaxed) - top_.load(std::memory_order_relaxed);
    return n > 0 ? n : 0;
  }

 private:
  class ring {
   public:
    explicit ring(std::int64_t capacity)
        : mask_(capacity - 1), entries_(new platform::atomic<T*>[static_cast<std::size_t>(capacity)]()) {}
    [[nodiscard]] std::int64_t capacity() const noexcept { return mask_ + 1; }
    // Entries are atomic because a thief may read one that the owner writes again; its take then fails (invariant 2).
    [[nodiscard]] T* get(std::int64_t i) const noexcept { return entry(i).load(std::memory_order_relaxed); }
    void put(std::int64_t i, T* item) noexcept { entry(i).store(item, std::memory_order_relaxed); }

   private:
    [[nodiscard]] platform::atomic<T*>& entry(std::int64_t i) const noexcept {
      return entries_[static_cast<std::size_t>(i & mask_)];
    }
    std::int64_t mask_;
    std::unique_ptr<platform::atomic<T*>[]> entries_;
  };

  ring* grow(const ring& old, std::int64_t t, std::int64_t b) {
    rings_.push_back(std::make_unique<ring>(old.capacity() * 2));
    ring* const r = rings_.back().get();
    for (std::int64_t i = t; i < b; ++i) r->put(i, old.get(i));
    // [CL8] release: the copied entries, for [CL7].
    ring_.store(r, std::memory_order_release);
    return r;
  }

  alignas(64) platform::atomic<std::int64_t> top_{0};
  alignas(64) platform::atomic<std::int64_t> bottom_{0};
  platform::atomic<ring*> ring_{nullptr};
  std::vector<std::unique_ptr<ring>> rings_;  // owner only
};

}  // namespace filch::detail::deque
