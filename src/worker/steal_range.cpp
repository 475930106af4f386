#include "worker/steal_range.hpp"

#include <cassert>
#include <new>

#include "worker/worker_range.hpp"

namespace filch::detail {

steal_range::steal_range(worker_range of, steal_range* around) noexcept
    : right_(static_cast<std::uint32_t>(worker_at(of.right))),
      left_(static_cast<std::uint32_t>(worker_at(of.left - 1))),
      left_is_shared_(of.left % one_worker != 0),
      around_(around) {
  assert(of.left > of.right);
}

bool steal_range::is_of(worker_range range) const noexcept {
  return right_ == worker_at(range.right) && left_ == worker_at(range.left - 1) &&
         left_is_shared_ == (range.left % one_worker != 0);
}

steal_range* steal_range::make(worker_range of, steal_range_ref& around) noexcept {
  auto* const made = new (std::nothrow) steal_range(of, around.get());
  if (made != nullptr) around.release();
  return made;
}

void steal_range::drop_reference() noexcept {
  // [SR2] acq_rel: all that was done with it is before its end. No exploration catches this: they do not look for races on
  // memory that is freed. ThreadSanitizer does, in the stress tests.
  if (references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  steal_range* const around = around_;
  delete this;
  if (around != nullptr) around->drop_reference();
}

steal_range* steal_range::outermost_active() noexcept {
  steal_range* found = nullptr;
  for (steal_range* r = this; r != nullptr; r = r->around_) {
    if (r->is_active()) found = r;
  }
  return found;
}

bool steal_place::begin(worker_range of) noexcept {
  const bool is_kept = kept_.get() == current_;
  steal_range_ref around = is_kept ? std::move(kept_) : steal_range_ref(current_);
  steal_range* const made = steal_range::make(of, around);
  if (made == nullptr) {
    if (is_kept) kept_ = std::move(around);
    return false;
  }
  enter(steal_range_ref::owner_of(made));
  return true;
}

}  // namespace filch::detail
