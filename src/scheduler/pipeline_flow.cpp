// docs/protocols/pipeline.md.
#include <exception>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include <filch/detail/pipeline_flow.hpp>
#include <filch/platform/memory.hpp>

#include "platform/thread.hpp"
#include "worker/lowest_exception.hpp"
#include "worker/returned_list.hpp"

namespace filch::detail {

struct pipeline_flow::state {
  static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

  /// Before a stage that is not parallel: a row of places, used in a circle. The second of two to come to a place, an item
  /// and its turn, lets the item in.
  struct gate {
    explicit gate(std::size_t most_items) : row(most_items) {}

    using place = platform::atomic<pipeline_item*>;
    place& at(std::uint64_t position) noexcept { return row[position % row.size()]; }

    std::vector<place> row;
    platform::atomic<std::uint64_t> arrived{0};  ///< where items enter as they come
  };

  // In one word: how many items are free, and whether somebody is in the source, or will look whether it may be.
  static constexpr std::uint64_t one_free = 4;
  static constexpr std::uint64_t in_source = 1;  ///< also when there are no more items
  static constexpr std::uint64_t will_look = 2;

  state(std::size_t most_items, std::size_t stages) : source(most_items * one_free) {
    gates.reserve(stages);
    for (std::size_t i = 0; i < stages; ++i) {
      gates.push_back(std::make_unique<gate>(most_items));
      // relaxed: nobody else has the pipeline yet.
      gates.back()->at(0).store(&turn, std::memory_order_relaxed);
    }
  }

  void note_error(std::uint64_t number) noexcept {
    // relaxed: a hint to others; written under the lock.
    error.note(mutex, number, [&] { failed.store(number, std::memory_order_relaxed); });
  }

  pipeline_item turn;  ///< stands for the turn of an item that has not come
  std::vector<std::unique_ptr<gate>> gates;
  // Of whoever is in the source.
  pipeline_item* free = nullptr;
  std::uint64_t given = 0;
  /// Free items that have come back since.
  returned_list<pipeline_item> returned;
  platform::atomic<std::uint64_t> source;
  platform::atomic<std::uint64_t> failed{none};  ///< the first item of those that failed
  platform::mutex mutex;
  lowest_exception error;
};

pipeline_flow::pipeline_flow(std::size_t most_items, std::size_t stages)
    : state_(std::make_unique<state>(most_items, stages)) {}

pipeline_flow::~pipeline_flow() = default;

void pipeline_flow::add(pipeline_item& i) noexcept { i.next.store(std::exchange(state_->free, &i)); }

void pipeline_flow::begin_feeder() noexcept {
  // relaxed: it looks now. The mark is set, by who added this task.
  state_->source.fetch_sub(state::will_look, std::memory_order_relaxed);
}

pipeline_item* pipeline_flow::begin_source() noexcept {
  state& s = *state_;
  if (s.failed.load(std::memory_order_relaxed) != state::none) return nullptr;
  std::uint64_t seen = s.source.load(std::memory_order_relaxed);
  do {
    if ((seen & state::in_source) != 0 || seen < state::one_free) return nullptr;
    // [PF5] acquire: the source's data, from who was in it before; and that a free item is there.
  } while (!s.source.compare_exchange_weak(seen, (seen - state::one_free) | state::in_source, std::memory_order_acquire,
                                           std::memory_order_relaxed));
  if (s.free == nullptr) s.free = s.returned.take_all();
  return std::exchange(s.free, s.free->next.load());
}

bool pipeline_flow::end_source(pipeline_item& i, bool adds) noexcept {
  state& s = *state_;
  i.number = s.given++;
  std::uint64_t seen = s.source.load(std::memory_order_relaxed);
  for (;;) {
    const bool wanted = adds && seen >= state::one_free && (seen & state::will_look) == 0;
    // [PF6] release: what it has done in the source, for [PF5].
    if (s.source.compare_exchange_weak(seen, (seen & ~state::in_source) | (wanted ? state::will_look : 0),
                                       std::memory_order_release, std::memory_order_relaxed)) {
      return wanted;
    }
  }
}

bool pipeline_flow::recycle(pipeline_item& i, bool adds) noexcept {
  state& s = *state_;
  s.returned.add(i);
  std::uint64_t seen = s.source.load(std::memory_order_relaxed);
  for (;;) {
    const bool wanted = adds && (seen & (state::in_source | state::will_look)) == 0;
    // [PF7] release: that the item is there, for [PF5]. No exploration notices if it is not, as a read-modify-write reads
    // the last value; see [AT5].
    if (s.source.compare_exchange_weak(seen, (seen + state::one_free) | (wanted ? state::will_look : 0),
                                       std::memory_order_release, std::memory_order_relaxed)) {
      return wanted;
    }
  }
}

bool pipeline_flow::enter(std::size_t stage, stage_order order, pipeline_item& i) noexcept {
  if (order == stage_order::parallel) return true;
  state& s = *state_;
  state::gate& g = *s.gates[stage];
  // [PF2] acq_rel: who comes to a place again has seen who was there before leave it.
  i.position = order == stage_order::in_order ? i.number : g.arrived.fetch_add(1, std::memory_order_acq_rel);
  state::gate::place& mine = g.at(i.position);
  // [PF1] release: the item, for who lets it in. acquire: what was done in the stage before.
  if (mine.exchange(&i, std::memory_order_acq_rel) == nullptr) return false;
  mine.store(nullptr, std::memory_order_relaxed);  // nobody else comes here before this item has left the stage
  return true;
}

pipeline_item* pipeline_flow::leave(std::size_t stage, stage_order order, const pipeline_item& i) noexcept {
  if (order == stage_order::parallel) return nullptr;
  state& s = *state_;
  state::gate::place& after = s.gates[stage]->at(i.position + 1);
  // [PF1] release: what was done in the stage. acquire: the item.
  pipeline_item* const next = after.exchange(&s.turn, std::memory_order_acq_rel);
  if (next != nullptr) after.store(nullptr, std::memory_order_relaxed);  // as above
  return next;
}

void pipeline_flow::fail(const pipeline_item& i) noexcept { state_->note_error(i.number); }

void pipeline_flow::fail_source() noexcept { state_->note_error(state_->given); }

bool pipeline_flow::skips(const pipeline_item& i) const noexcept {
  return i.number >= state_->failed.load(std::memory_order_relaxed);
}

void pipeline_flow::rethrow() {
  if (const std::exception_ptr error = state_->error.take()) std::rethrow_exception(error);
}

}  // namespace filch::detail
