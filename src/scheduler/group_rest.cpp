#include "scheduler/group_rest.hpp"

#include <mutex>
#include <utility>

namespace filch::detail {

void group_rest::record(std::uint64_t order) noexcept {
  const std::lock_guard lock(error_mutex_);
  if (error_ != nullptr && error_order_ < order) return;
  error_ = std::current_exception();
  error_order_ = order;
}

void group_rest::rethrow() {
  if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
}

}  // namespace filch::detail
