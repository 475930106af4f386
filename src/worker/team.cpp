#include "worker/team.hpp"

#include <utility>

#include "worker/worker.hpp"

namespace filch::detail {

team::team() : memory_(max_workers * sizeof(worker*)), workers_(static_cast<worker**>(memory_.data())) {}

team::~team() = default;

void team::add(std::unique_ptr<worker> w) {
  const std::uint32_t n = most_.load(std::memory_order_relaxed);  // who adds is alone
  workers_[n] = w.get();
  owned_.push_back(std::move(w));
  // [TM3] release: the worker, for who looks at all of them. No exploration catches this: they do not look for races on
  // the table.
  most_.store(n + 1, std::memory_order_release);
  take_part(n + 1);
}

void team::take_part(std::uint32_t count) noexcept {
  // [TM2] seq_cst: releases the workers to [TM1]; and before the newest one's look for sleepers ([SL1]). No exploration
  // catches this: see [TM1].
  size_.store(count, std::memory_order_seq_cst);
}

}  // namespace filch::detail
