#include "worker/task_trace.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <mutex>
#include <new>
#include <utility>

#include "worker/team.hpp"
#include "worker/worker.hpp"

namespace filch::detail {

bool task_trace::begin(const worker& root, const void* frame) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (running_) return false;
    running_ = true;
    if (std::exchange(forgotten_, false)) home_ = nullptr;
  }
  const auto workers = static_cast<std::size_t>(root.common.workers);
  if (home_ != root.home || logs_.size() != workers) {
    clear();
    try {
      logs_ = std::vector<log>(workers);
    } catch (const std::bad_alloc&) {
      logs_.clear();  // nothing is noted
    }
    home_ = root.home;
  }
  strict_ = iterations_ > relaxed_;
  root_ = &root;
  activation_ = root.inner.frame;
  frame_ = frame;
  return true;
}

void task_trace::end(bool failed) noexcept {
  if (!failed && !strict_) {
    try {
      follow_logs();
    } catch (const std::bad_alloc&) {
      table_.clear();  // the next iteration is like the first
    }
    ++iterations_;
  }
  for (log& each : logs_) each.entries.clear();
  const std::lock_guard lock(mutex_);
  running_ = false;
}

void task_trace::forget() noexcept {
  const std::lock_guard lock(mutex_);
  forgotten_ = true;
}

void task_trace::clear() noexcept {
  iterations_ = 0;
  table_.clear();
  logs_.clear();
}

void task_trace::follow_logs() {
  std::size_t entries = 0;
  for (const log& each : logs_) entries += each.entries.size();
  table_.assign(entries == 0 ? 0 : std::bit_ceil(2 * entries), {});
  for (const log& each : logs_) {
    for (const placement& noted : each.entries) add_to_table(noted);
  }
}

void task_trace::add_to_table(const placement& noted) noexcept {
  std::size_t i = noted.task % table_.size();
  while (table_[i].by != nobody) i = (i + 1) % table_.size();
  table_[i] = noted;
}

void task_trace::follow(const std::vector<placement>& recorded) {
  table_.assign(recorded.empty() ? 0 : std::bit_ceil(2 * recorded.size()), {});
  for (const placement& each : recorded) add_to_table(each);
  strict_ = true;
}

std::vector<task_trace::placement> task_trace::recorded() const {
  std::vector<placement> all;
  std::ranges::copy_if(table_, std::back_inserter(all), [](const placement& each) { return each.by != nobody; });
  return all;
}

worker* task_trace::place_of(std::uint64_t task, const worker& maker) const noexcept {
  if (table_.empty()) return nullptr;
  for (std::size_t i = task % table_.size(); table_[i].by != nobody; i = (i + 1) % table_.size()) {
    if (table_[i].task != task) continue;
    worker& to = maker.common.team[table_[i].by == by_root ? root_->number : table_[i].by];
    return &to != &maker ? &to : nullptr;
  }
  return nullptr;
}

void task_trace::note(std::uint64_t task, const worker& by) noexcept {
  if (strict_) return;
  // Only those that are there in each iteration: the workers with threads, and who is the root's.
  const bool is_root = &by == root_;
  if (!is_root && (by.number == 0 || by.number >= logs_.size())) return;
  const std::size_t at = by.number < logs_.size() ? by.number : 0;
  if (at >= logs_.size()) return;
  try {
    logs_[at].entries.push_back({task, is_root ? by_root : by.number});
  } catch (const std::bad_alloc&) {
    return;  // the task will run where its parent does
  }
}

bool task_trace::contains(const void* group, const worker_core& by) const noexcept {
  return by.inner.frame != activation_ || std::less<>{}(group, frame_);
}

}  // namespace filch::detail
