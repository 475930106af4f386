#include "places/record_pool.hpp"

namespace filch::detail::places {

task_record& record_pool::get() {
  if (free_ == nullptr && returned_.load(std::memory_order_relaxed) != nullptr) {
    // [RP2] acquire: who gave a record back has read it, [RP1].
    free_ = returned_.exchange(nullptr, std::memory_order_acquire);
  }
  if (free_ == nullptr) {
    blocks_.push_back(std::make_unique<task_record[]>(records_at_once));
    for (std::size_t i = records_at_once; i-- != 0;) {
      task_record& r = blocks_.back()[i];
      r.pool = number_;
      put(r);
    }
  }
  task_record& r = *free_;
  free_ = r.next.load();
  return r;
}

void record_pool::put(task_record& r) noexcept {
  r.next.store(free_);
  free_ = &r;
}

void record_pool::give_back(task_record& r) noexcept {
  task_record* newest = returned_.load(std::memory_order_relaxed);
  do {
    r.next.store(newest);
    // [RP1] release: the link, and that the closure has been read. The owner takes all at once, so a record that came
    // back meanwhile does no harm.
  } while (!returned_.compare_exchange_weak(newest, &r, std::memory_order_release, std::memory_order_relaxed));
}

}  // namespace filch::detail::places
