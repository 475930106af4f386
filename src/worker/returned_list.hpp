// What goes back to its owner: any thread adds, and the owner takes all at once. So an element that came back meanwhile
// cannot be mistaken for the one that was there before.
#pragma once

#include <filch/platform/memory.hpp>

namespace filch::detail {

/// T has a member `next`, a platform::shared<T*>.
template <class T>
class returned_list {
 public:
  /// Any thread.
  void add(T& t) noexcept {
    T* newest = newest_.load(std::memory_order_relaxed);
    do {
      t.next.store(newest);
      // [RL1] release: the element and its link, for [RL2].
    } while (!newest_.compare_exchange_weak(newest, &t, std::memory_order_release, std::memory_order_relaxed));
  }
  /// Owner. The newest, linked to those before it. Null: none has come.
  [[nodiscard]] T* take_all() noexcept {
    // relaxed: mostly there is none, and who knows of one sees it.
    if (newest_.load(std::memory_order_relaxed) == nullptr) return nullptr;
    return newest_.exchange(nullptr, std::memory_order_acquire);  // [RL2] acquire: from [RL1]
  }

 private:
  platform::atomic<T*> newest_{nullptr};
};

}  // namespace filch::detail
