#include <exception>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include <filch/detail/pipeline_flow.hpp>
#include <filch/platform/memory.hpp>

#include "platform/thread.hpp"

namespace filch::detail {

/// One lock for all: it is held for a few instructions, and items are worth more than that.
struct pipeline_flow::state {
  static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

  struct gate {
    bool busy = false;
    std::uint64_t next = 0;                 ///< the item that may enter, where they come in order
    std::vector<pipeline_item*> by_number;  ///< left there: item n at n modulo their most; where they come in order
    pipeline_item* oldest = nullptr;        ///< left there, elsewhere
    pipeline_item* newest = nullptr;
  };

  state(std::size_t most_items, std::size_t stages) : gates(stages) {
    for (gate& each : gates) each.by_number.resize(most_items);
  }

  void note_error(std::uint64_t number) noexcept {
    const std::lock_guard lock(mutex);
    over = true;
    if (number >= failed.load(std::memory_order_relaxed)) return;
    failed.store(number, std::memory_order_relaxed);  // a hint to others; under the lock
    error = std::current_exception();
  }

  platform::mutex mutex;
  std::vector<gate> gates;
  pipeline_item* free = nullptr;
  bool is_fed = false;       ///< somebody is in the source
  bool will_be_fed = false;  ///< somebody is about to look whether it may be
  bool over = false;         ///< there are no more items
  std::uint64_t given = 0;
  platform::atomic<std::uint64_t> failed{none};  ///< the first item of those that failed
  std::exception_ptr error;
};

pipeline_flow::pipeline_flow(std::size_t most_items, std::size_t stages)
    : state_(std::make_unique<state>(most_items, stages)) {}

pipeline_flow::~pipeline_flow() = default;

bool pipeline_flow::may_feed() noexcept {
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  if (s.over || s.is_fed || s.free == nullptr) return false;
  return !std::exchange(s.will_be_fed, true);
}

void pipeline_flow::feeds() noexcept {
  const std::lock_guard lock(state_->mutex);
  state_->will_be_fed = false;
}

pipeline_item* pipeline_flow::begin_source() noexcept {
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  if (s.over || s.is_fed || s.free == nullptr) return nullptr;
  s.is_fed = true;
  return std::exchange(s.free, s.free->next);
}

void pipeline_flow::end_source(pipeline_item& i, bool more) noexcept {
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  s.is_fed = false;
  if (more) {
    i.number = s.given++;
  } else {
    s.over = true;
  }
}

void pipeline_flow::recycle(pipeline_item& i) noexcept {
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  i.next = std::exchange(s.free, &i);
}

bool pipeline_flow::enter(std::size_t stage, stage_order order, pipeline_item& i) noexcept {
  if (order == stage_order::parallel) return true;
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  state::gate& g = s.gates[stage];
  const bool may = !g.busy && (order == stage_order::serial || i.number == g.next);
  if (may) {
    g.busy = true;
  } else if (order == stage_order::in_order) {
    g.by_number[i.number % g.by_number.size()] = &i;
  } else {
    i.next = nullptr;
    (g.oldest == nullptr ? g.oldest : g.newest->next) = &i;
    g.newest = &i;
  }
  return may;
}

pipeline_item* pipeline_flow::leave(std::size_t stage, stage_order order) noexcept {
  if (order == stage_order::parallel) return nullptr;
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  state::gate& g = s.gates[stage];
  pipeline_item* const next =
      order == stage_order::in_order ? std::exchange(g.by_number[++g.next % g.by_number.size()], nullptr) : g.oldest;
  if (order == stage_order::serial && next != nullptr) g.oldest = next->next;
  g.busy = next != nullptr;
  return next;
}

void pipeline_flow::fail(const pipeline_item& i) noexcept { state_->note_error(i.number); }

void pipeline_flow::fail_source() noexcept { state_->note_error(state_->given); }

bool pipeline_flow::skips(const pipeline_item& i) const noexcept {
  return i.number >= state_->failed.load(std::memory_order_relaxed);
}

void pipeline_flow::rethrow() {
  if (state_->error != nullptr) std::rethrow_exception(state_->error);
}

}  // namespace filch::detail
