#include "places/export_rings.hpp"

#include <algorithm>
#include <utility>

#include "worker/sleepers.hpp"
#include "worker/worker.hpp"

namespace filch::detail::places {
namespace {

/// Null: there is none, or somebody else was faster.
task_record* take_oldest(deque::ring_deque<task_record>& from) noexcept {
  const auto seen = from.oldest();
  return seen.item != nullptr && from.take(seen) ? seen.item : nullptr;
}

}  // namespace

export_rings::export_rings(int workers, std::function<void()> look, std::function<void()> offered)
    : look_(std::move(look)), offered_(std::move(offered)) {
  for (int i = 0; i < workers; ++i) rings_.push_back(std::make_unique<ring>());
}

void export_rings::push(worker& w, task_record& r) {
  rings_[w.number]->push(&r);
  w.common.sleepers.offered(w, 1, takers::anybody);
}

void export_rings::add(ring& to, task_record& r) {
  to.push(&r);
  offered_();
}

task_record* export_rings::take_own(const worker& w) noexcept {
  return w.number < rings_.size() ? rings_[w.number]->pop() : nullptr;
}

task_record* export_rings::take_any(worker& w) noexcept {
  if (task_record* const r = take_own(w)) return r;
  if (task_record* const r = take_oldest(staying_)) return r;
  const std::size_t n = rings_.size();
  const std::size_t first = w.random() % n;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t from = (first + i) % n;
    if (from == w.number) continue;
    if (task_record* const r = take_oldest(*rings_[from])) {
      w.count(&counters::steals);
      return r;
    }
  }
  return take_oldest(arrivals_);
}

bool export_rings::acquire(worker& w) noexcept {
  task_record* r = take_any(w);
  if (r == nullptr) return false;
  w.occupied();
  w.common.sleepers.end_search(w);
  for (; r != nullptr; r = take_own(w)) {
    w.run_loose(*r, nullptr);
    look_();
  }
  return true;
}

bool export_rings::work_visible() const noexcept {
  return !staying_.empty() || !arrivals_.empty() ||
         std::any_of(rings_.begin(), rings_.end(), [](const auto& each) { return !each->empty(); });
}

task_record* export_rings::take_for_others() noexcept {
  const auto n = static_cast<std::uint32_t>(rings_.size());
  for (std::uint32_t i = 0; i <= n; ++i) {
    const std::uint32_t from = next_++ % (n + 1);
    if (task_record* const r = take_oldest(from == n ? arrivals_ : *rings_[from])) return r;
  }
  return nullptr;
}

int export_rings::tasks() const noexcept {
  std::int64_t all = arrivals_.size();
  for (const auto& each : rings_) all += each->size();
  return static_cast<int>(all);
}

}  // namespace filch::detail::places
