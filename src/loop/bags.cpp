// What bags call off their fast path: docs/protocols/bags.md.
#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include <filch/detail/bag_share.hpp>
#include <filch/detail/task_counts.hpp>
#include <filch/detail/task_share.hpp>

#include "loop/share_bag.hpp"
#include "worker/interrupter.hpp"
#include "worker/striped_mutex.hpp"
#include "worker/wait.hpp"

namespace filch::detail {
namespace {

worker& owner_of(bag_share& part) noexcept { return static_cast<worker&>(part.w); }

/// Waits for the pieces that others have. True: the part has work again, a chunk that one of them put on offer in its
/// turn.
bool wait_for_taken(worker& w, bag_share& part, work_share* adopter) noexcept {
  while (part.taken != nullptr) {
    piece& p = *part.taken;
    if (wait_for(w, p, adopter) == join_result::reclaimed) return true;
    part.taken = p.older;
    --part.taken_count;
    w.pieces.put(p);
  }
  return false;
}

/// Drops what the part has left, private and shared.
void drop_all(worker& w, bag_share& part) noexcept {
  part.drop();
  while (bag_chunk* const chunk = take_back_newest(w, part)) {
    w.common.policy.piece_taken_back(w);
    delete chunk;
  }
}

/// Before the first item, which may be long, of a part that has got work: answers those whom it had nothing to give
/// before, and shares as its way wants.
void begin_items(worker& w, bag_share& part) noexcept {
  // Not where all that can be said is no, as before the first step of a task.
  if (part.size() > 1) {
    w.loops.polled = &part;
    answer(w);
    w.loops.polled = nullptr;
  }
  if (share_unasked(w, part)) w.common.sleepers.offered(w);
}

bool ends(bag_share& part) noexcept {
  bag_state& whole = part.whole;
  if (whole.stop != nullptr && whole.stop->stop_requested())
    whole.ended.store(true, std::memory_order_relaxed);  // [BW1]
  return whole.ended.load(std::memory_order_relaxed);    // [BW1]
}

/// Of the caller, until no task is left. It runs what was made in an activation of the call, since that belongs to the
/// call.
class counts_wait : public waiting_worker {
 public:
  counts_wait(worker& w, task_counts& counts) noexcept : waiting_worker(w), counts_(counts) {}

  bool over() noexcept { return counts_.all_ended(); }

  bool help() noexcept {
    if (run_given()) return true;
    w_.counted.waiting.begin();
    return any_other([&](lineage part) { return w_.common.policy.help(w_, part, nullptr); });
  }

  bool interrupt() noexcept { return w_.common.interrupter.interrupt_all_due(w_); }

  bool sleep() noexcept {
    doze_unless(
        [&] {
          return counts_.all_ended() ||
                 any_other([&](lineage part) { return w_.common.policy.help_visible(w_, part); });
        },
        [&] { return w_.common.interrupter.earliest(w_); });
    return true;
  }

 private:
  template <class Visit>
  bool any_other(Visit visit) const noexcept {
    return counts_.any_active([&](std::uint32_t number, std::uint64_t activation) {
      return number != w_.number && visit(lineage{static_cast<std::uint16_t>(number), activation});
    });
  }

  task_counts& counts_;
};

std::size_t sharing_threshold(const bag_state& whole) noexcept {
  constexpr std::size_t never = std::numeric_limits<std::size_t>::max();
  return whole.kind == bag_kind::standard || whole.chunk > never / 2 ? never : 2 * whole.chunk;
}

}  // namespace

bag_share::bag_share(worker_core& owner, bag_state& of) noexcept
    : work_share(owner, true, of.kind == bag_kind::standard), w(owner), whole(of), share_at(sharing_threshold(of)) {}

sharing resolve(const worker_core& w, sharing how) {
  const common_parts& common = static_cast<const worker&>(w).common;
  const bool asked = common.policy.can_be_asked();
  if (how.kind == bag_kind::inherited) how.kind = asked ? bag_kind::standard : bag_kind::lazy_splitter;
  if (how.kind == bag_kind::standard && !asked) {
    throw std::invalid_argument("filch: bag 'standard' does not go with policy '" + std::string(common.policy_name) +
                                "', whose owners nobody can ask for work; use another way to share the bag or policy "
                                "'standard'");
  }
  if (how.chunk == 0) throw std::invalid_argument("filch: chunk '0' of a bag has no items; use 1 or more");
  return how;
}

void begin_bag(bag_share& part, piece* stolen) noexcept {
  worker& w = owner_of(part);
  const busy_section here(w);
  // What was stolen runs in an activation that has just begun.
  if (part.whole.counts != nullptr && stolen != nullptr) {
    part.outer_activation = part.whole.counts->enter(w, w.activations.innermost());
  }
  if (ends(part)) {
    part.drop();
    return;
  }
  if (stolen != nullptr && part.whole.kind == bag_kind::steal_half) {
    // relaxed: the piece is taken, by this worker.
    steal_further(w, part, static_cast<worker&>(*stolen->chunk.load()->sharer),
                  stolen->number.load(std::memory_order_relaxed));
  }
  begin_items(w, part);
}

void attend_bag(bag_share& part, bool between) noexcept {
  worker& w = owner_of(part);
  const busy_section here(w);
  if (between) {
    if (ends(part)) {
      drop_all(w, part);
      return;
    }
    w.loops.polled = &part;
  }
  answer(w);
  if (share_unasked(w, part)) w.common.sleepers.offered(w);
  if (between) w.loops.polled = nullptr;
}

bool continue_bag(bag_share& part) noexcept {
  worker& w = owner_of(part);
  const busy_section here(w);
  if (!ends(part)) {
    if (bag_chunk* const chunk = take_back_newest(w, part)) {
      w.common.policy.piece_taken_back(w);
      part.put_back(*chunk);
      // The lazy splitter takes back half of what it has shared, if that is two chunks: it shares the other half again.
      if (part.whole.kind == bag_kind::lazy_splitter && share_unasked(w, part)) w.common.sleepers.offered(w);
      return true;
    }
    if (!wait_for_taken(w, part, &part)) return false;
    if (!ends(part)) {
      begin_items(w, part);
      return true;
    }
  }
  drop_all(w, part);
  wait_for_taken(w, part, nullptr);
  return false;
}

void note_failure(bag_share& part) noexcept {
  {
    const std::lock_guard lock(owner_of(part).common.mutexes.of(&part.whole));
    if (part.whole.error == nullptr) part.whole.error = std::current_exception();
  }
  part.whole.ended.store(true, std::memory_order_relaxed);  // [BW1]
}

void fail_bag(bag_share& part) noexcept {
  worker& w = owner_of(part);
  const busy_section here(w);
  note_failure(part);
  drop_all(w, part);
  wait_for_taken(w, part, nullptr);
}

void count_part(bag_share& part) noexcept {
  const busy_section here(part.w);
  task_counts& counts = *part.whole.counts;
  counts.enter(part.w, part.outer_activation);
  counts.count_ended(part.w, part.ended);
}

void wait_for_counts(task_counts& counts) noexcept {
  const busy_section here(counts.caller);
  auto& w = static_cast<worker&>(counts.caller);
  counts_wait waiting(w, counts);
  wait_until_over(waiting, w.common.spin_ns);
}

void reject_split(std::size_t had, std::size_t kept, std::size_t gave) {
  throw std::logic_error("filch: split() of a task of '" + std::to_string(had) + "' units kept '" +
                         std::to_string(kept) + "' and gave '" + std::to_string(gave) +
                         "'; let the two add up to what the task had");
}

void rethrow_from(bag_state& whole) {
  if (whole.error != nullptr) std::rethrow_exception(std::exchange(whole.error, nullptr));
}

}  // namespace filch::detail
