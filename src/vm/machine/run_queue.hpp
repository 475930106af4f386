// The virtual threads that could go on, by their clocks: a binary heap. Of equal clocks the lower number comes first,
// so that the order is one and the same in every run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "vm/machine/virtual_time.hpp"

namespace filch::platform::vm {

template <class Thread>
class run_queue {
 public:
  struct entry {
    picoseconds clock;
    std::uint32_t number;
    Thread* thread;
    [[nodiscard]] bool before(const entry& other) const noexcept {
      return clock != other.clock ? clock < other.clock : number < other.number;
    }
  };

  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
  [[nodiscard]] const entry& first() const noexcept { return heap_.front(); }
  /// Clock of the first, or never.
  [[nodiscard]] picoseconds earliest() const noexcept { return heap_.empty() ? never : heap_.front().clock; }

  void push(const entry& e) {
    std::size_t i = heap_.size();
    heap_.push_back(e);
    while (i > 0 && e.before(heap_[(i - 1) / 2])) {
      heap_[i] = heap_[(i - 1) / 2];
      i = (i - 1) / 2;
    }
    heap_[i] = e;
  }

  /// Takes the first out.
  entry pop() {
    const entry top = heap_.front();
    const entry last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(last);
    return top;
  }

  /// Takes the first out and puts another in.
  entry exchange(const entry& e) {
    const entry top = heap_.front();
    sink(e);
    return top;
  }

  /// Takes that thread out, which is in it. O(n).
  void remove(const Thread& which) {
    std::size_t i = 0;
    while (heap_[i].thread != &which) ++i;
    const entry last = heap_.back();
    heap_.pop_back();
    if (i == heap_.size()) return;
    for (; i > 0 && last.before(heap_[(i - 1) / 2]); i = (i - 1) / 2) heap_[i] = heap_[(i - 1) / 2];
    sink(last, i);
  }

  void clear() noexcept { heap_.clear(); }

 private:
  void sink(const entry& e, std::size_t i = 0) {
    for (;;) {
      std::size_t child = 2 * i + 1;
      if (child >= heap_.size()) break;
      if (child + 1 < heap_.size() && heap_[child + 1].before(heap_[child])) ++child;
      if (!heap_[child].before(e)) break;
      heap_[i] = heap_[child];
      i = child;
    }
    heap_[i] = e;
  }

  std::vector<entry> heap_;
};

}  // namespace filch::platform::vm
