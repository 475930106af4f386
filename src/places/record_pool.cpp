#include "places/record_pool.hpp"

#include <new>

namespace filch::detail::places {

task_record& record_pool::get(std::size_t room) {
  const bool large = room > small_room;
  task_record*& newest = free_[large ? 1 : 0];
  if (newest == nullptr) take_returned();
  task_record& r = newest != nullptr ? *newest : make(large);
  newest = r.next.load();
  return r;
}

void record_pool::put(task_record& r) noexcept {
  task_record*& newest = free_[r.is_large ? 1 : 0];
  r.next.store(newest);
  newest = &r;
}

void record_pool::take_returned() noexcept {
  task_record* r = returned_.take_all();
  while (r != nullptr) {
    task_record* const next = r->next.load();
    put(*r);
    r = next;
  }
}

task_record& record_pool::make(bool large) {
  static_assert(bytes_at_once >= sizeof(task_record) + large_room + sizeof(line), "a block holds a record at least");
  const std::size_t lines = (sizeof(task_record) + (large ? large_room : small_room) + sizeof(line) - 1) / sizeof(line);
  const std::size_t records = bytes_at_once / (lines * sizeof(line));
  blocks_.push_back(std::make_unique_for_overwrite<line[]>(records * lines));
  task_record* newest;
  std::size_t made = 0;
  do {
    newest = ::new (static_cast<void*>(&blocks_.back()[made * lines])) task_record;
    newest->pool = number_;
    newest->is_large = large;
    put(*newest);
  } while (++made != records);
  return *newest;
}

void record_pool::give_back(task_record& r) noexcept { returned_.add(r); }

}  // namespace filch::detail::places
