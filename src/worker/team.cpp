#include "worker/team.hpp"

#include <utility>

#include "worker/worker.hpp"

namespace filch {

team::team() : memory_(max_workers * sizeof(worker*)), workers_(static_cast<worker**>(memory_.data())) {}

team::~team() = default;

void team::add(std::unique_ptr<worker> w) {
  const std::uint32_t n = size_.load(std::memory_order_relaxed);
  workers_[n] = w.get();
  owned_.push_back(std::move(w));
  size_.store(n + 1, std::memory_order_release);  // [TM2] pairs with [TM1]
}

}  // namespace filch
