#include "worker/team.hpp"

#include "worker/worker.hpp"

namespace filch {

team::team() : memory_(max_workers * sizeof(worker*)), workers_(static_cast<worker**>(memory_.data())) {}

team::~team() {
  for (std::uint32_t i = 0; i < size(); ++i) delete workers_[i];
}

void team::add(std::unique_ptr<worker> w) noexcept {
  const std::uint32_t n = size_.load(std::memory_order_relaxed);
  workers_[n] = w.release();
  size_.store(n + 1, std::memory_order_release);  // [TM2] pairs with [TM1]
}

}  // namespace filch
