#include "loop/loops.hpp"

#include <algorithm>
#include <exception>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>

#include <filch/detail/division.hpp>
#include <filch/detail/weight_sums.hpp>

#include "loop/carve.hpp"
#include "loop/eager.hpp"
#include "loop/keep_offered.hpp"
#include "platform/clock.hpp"
#include "worker/policy.hpp"
#include "worker/profile_recorder.hpp"
#include "worker/sleepers.hpp"
#include "worker/slow_path.hpp"
#include "worker/striped_mutex.hpp"
#include "worker/task_trace.hpp"
#include "worker/team.hpp"
#include "worker/worker.hpp"

namespace filch::detail {
namespace {

/// Iterations from there on need not run.
void cut(loop_state& whole, std::uint64_t at) noexcept {
  std::uint64_t before = whole.cut_at.load(std::memory_order_relaxed);                              // [LW1]
  while (at < before && !whole.cut_at.compare_exchange_weak(before, at, std::memory_order_relaxed,  // [LW1]
                                                            std::memory_order_relaxed)) {
  }
}

/// A new version whose last bit is another.
std::uint64_t version_after(worker& w, seen_piece seen) noexcept {
  const std::uint64_t version = w.new_id();
  return (version ^ task_state::unpack(seen.word).id) % 2 != 0 ? version : w.new_id();
}

/// Takes the share's newest piece back, or the lower part of it. False: none of its pieces is on offer.
bool take_back_newest(worker& w, loop_share& f) noexcept {
  for (piece** link = &f.newest; *link != nullptr; link = &(*link)->older) {
    piece& p = **link;
    while (const seen_piece seen = piece_pool::on_offer(p)) {
      const piece_start start = seen.start();
      const std::uint64_t high = p.high.load();
      const piece_start rest = rest_of_piece(*f.whole, start, high);
      if (rest.low == high) {
        if (!w.pieces.take_back(seen)) continue;
        *link = p.older;
        w.pieces.put(p);
        w.common.policy.piece_taken_back(w);
      } else {
        if (!piece_pool::shorten(seen, rest, version_after(w, seen))) continue;
      }
      w.count(&counters::transactions);
      f.next.store(start.low);
      f.last.store(rest.low);
      f.chunks = start.chunks - rest.chunks;
      return true;
    }
  }
  return false;
}

/// Waits for the share's pieces, none of which is on offer any more. True: a part of one, which the worker that had it
/// put on offer in its turn, is the share's interval now.
bool wait_for_pieces(worker& w, loop_share& f, work_share* adopter) noexcept {
  while (f.newest != nullptr) {
    piece& p = *f.newest;
    if (wait_for(w, p, adopter) == join_result::reclaimed) return true;
    f.newest = p.older;
    w.pieces.put(p);
  }
  return false;
}

/// So many of the iterations from low on have that share of the work of all until high.
std::uint64_t iterations_with(const loop_state& whole, std::uint64_t low, std::uint64_t high, double share) noexcept {
  const weight_sums* const sums = whole.weights;
  if (sums == nullptr || !(sums->before(low) < sums->before(high))) {
    // To the nearest; of two equally near, whatever the last bits say, down.
    constexpr double tie_down = 0.5 - 1e-6;
    return static_cast<std::uint64_t>(static_cast<double>(high - low) * share + tie_down);
  }
  const double aim = sums->before(low) + share * (sums->before(high) - sums->before(low));
  const auto all = std::views::iota(low, high);
  const auto is_below = [&](std::uint64_t i) { return sums->before(i) < aim; };
  const std::uint64_t above =
      low + static_cast<std::uint64_t>(std::ranges::partition_point(all, is_below) - all.begin());
  const bool is_below_nearer = above != low && aim - sums->before(above - 1) <= sums->before(above) - aim;
  return above - low - (is_below_nearer ? 1 : 0);
}

/// With fewer chunks left, of which each takes a microsecond or some, a loop is at its end about as soon without a worker
/// that has to be woken first.
constexpr std::uint64_t short_chunks = 20;

/// Is all that there is to do a loop that is to be short, by memory and by what it has shown, while all others sleep?
/// Where anybody is awake, it is worth an answer: who asks looks on, or waits for what this worker is in.
bool is_best_alone(worker& w, loop_share& f) noexcept {
  if (f.slow || f.whole->kind != loop_kind::standard || !w.common.sleepers.all_but_one()) return false;
  const std::uint64_t chunk = f.tuner->chunk.load();
  if (chunk <= 1 || (f.last.load() - f.next.load()) / chunk >= short_chunks) return false;
  const work_share* const other = giver(w, giving_order::oldest);
  if (w.split.load() < w.head.load() || (other != nullptr && other != &f)) return false;
  // What memory says may be wrong: it begins with little, and goes on with more if that was fast.
  if (!std::exchange(f.alone, true)) f.most.store(f.whole->grain);
  return true;
}

}  // namespace

chunk_timer::chunk_timer() noexcept : since_(platform::now_ns()) {}

std::int64_t chunk_timer::ns() const noexcept { return platform::now_ns() - since_; }

loop_kind checked_kind(const worker_core& w, loop_kind kind) {
  const common_parts& common = static_cast<const worker&>(w).common;
  if (common.policy.runs_at_once()) return loop_kind::standard;  // in order
  if (kind != loop_kind::standard || common.policy.can_be_asked()) return kind;
  throw std::invalid_argument("filch: loop 'standard' does not go with policy '" + std::string(common.policy_name) +
                              "', whose owners nobody can ask for work; use another way to split the loop or policy "
                              "'standard'");
}

void begin_eager(worker& w, loop_share& f, part_origin origin) noexcept {
  const busy_section here(w);
  if (begin_eagerly(w, f, origin)) w.common.sleepers.offered(w);
}

void attend_loop(worker& w, loop_share& f) noexcept {
  const busy_section here(w);
  loop_state& whole = *f.whole;
  if (whole.stop != nullptr && whole.stop->stop_requested()) cut(whole, 0);
  const std::uint64_t cut_at = whole.cut_at.load(std::memory_order_relaxed);  // [LW1]
  if (cut_at < f.last.load()) f.last.store(std::max(f.next.load(), cut_at));
  w.loops.polled = &f;
  if (!is_best_alone(w, f)) answer(w);
  if (f.polls && is_lazy(whole.kind)) keep_offered(w, whole.kind);
  w.loops.polled = nullptr;
}

bool continue_loop(worker& w, loop_share& f) noexcept {
  const busy_section here(w);
  loop_state& whole = *f.whole;
  for (;;) {
    if (whole.kind == loop_kind::dynamic && next_handed_out(f)) return true;
    if (!take_back_newest(w, f)) break;
    const std::uint64_t cut_at = whole.cut_at.load(std::memory_order_relaxed);  // [LW1]
    f.last.store(std::max(f.next.load(), std::min(f.last.load(), cut_at)));
    if (f.next.load() == f.last.load()) continue;
    w.count(&counters::coalesced);
    if (!f.gives) begin_eager(w, f, part_origin::taken_back);
    return true;
  }
  w.count(&counters::synchronizations);
  // The chunks of `dynamic` are not in its pieces.
  if (!wait_for_pieces(w, f, whole.kind == loop_kind::dynamic ? nullptr : &f)) return false;
  if (!f.gives) begin_eager(w, f, part_origin::stolen);
  return true;
}

namespace {

/// Do the parts of a loop that begins here have workers of their own? Elsewhere, or for a guest, the others are busy with
/// something else.
bool is_roots_own(const worker& w) noexcept {
  return w.number == 0 && w.is_in_root() && w.loops.innermost.load() == nullptr;
}

/// As many as workers, of a grain at least.
std::uint64_t parts_with_places(const worker& w, const loop_state& whole, std::uint64_t low,
                                std::uint64_t high) noexcept {
  const auto workers = static_cast<std::uint64_t>(w.common.workers);
  return std::clamp<std::uint64_t>((high - low) / whole.grain, 1, workers);
}

/// Where the first `count` of so many parts of [low, high) end. Parts differ by one grain at most, the larger ones first.
std::uint64_t end_of_first(const loop_state& whole, std::uint64_t low, std::uint64_t high, std::uint64_t count,
                           std::uint64_t parts) noexcept {
  const std::uint64_t grains = (high - low) / whole.grain;
  return low + (grains / parts * count + std::min(grains % parts, count)) * whole.grain;
}

// Part t is worker t's, as in OpenMP, if the loop is the root's own. Else whoever is idle takes a part.
void run_fixed(worker& w, loop_state& whole, std::uint64_t low, std::uint64_t high, part_origin origin) noexcept {
  if (origin == part_origin::whole && is_roots_own(w)) {
    return run_fixed(w, whole, low, high, 0, parts_with_places(w, whole, low, high));
  }
  const search_pause own_part(w);
  whole.code.run_part(w, whole, low, high, 0, origin);
}

// Of a schedule that is recorded or replayed: part t is worker t's, or is where it was, if the loop is the root's own. Others
// are their owners' alone.
void run_in_schedule(worker& w, loop_state& whole, std::uint64_t low, std::uint64_t high, part_origin origin) noexcept {
  if (origin != part_origin::whole) return whole.code.run_part(w, whole, low, high, 0, part_origin::taken_back);
  whole.kind = loop_kind::fixed;
  if (is_roots_own(w)) {
    const busy_section here(w);
    task_path& path = w.place.path;
    for (std::uint64_t parts = parts_with_places(w, whole, low, high); parts > 1; --parts) {
      const std::uint64_t from = end_of_first(whole, low, high, parts - 1, parts);
      const task_path part = next_child(path);
      worker* const recorded = path.trace->place_of(part.id, w);
      worker& other = w.common.team[static_cast<std::uint32_t>(parts - 1)];
      worker& to = path.trace->is_strict() ? (recorded != nullptr ? *recorded : w) : other;
      if (!give_part(w, to, {.range = {}, .path = part}, whole, from, high)) break;
      high = from;
    }
  }
  whole.code.run_part(w, whole, low, high, 0, part_origin::taken_back);
  join_given_parts(w, whole);
}

}  // namespace

void run_fixed(worker& w, loop_state& whole, std::uint64_t low, std::uint64_t high, std::uint32_t first,
               std::uint64_t parts) noexcept {
  {
    const busy_section here(w);
    while (parts > 1) {
      const std::uint64_t lower = parts - parts / 2;
      const std::uint64_t from = end_of_first(whole, low, high, lower, parts);
      worker& middle = w.common.team[first + static_cast<std::uint32_t>(lower)];
      if (!give_part(w, middle, {}, whole, from, high, parts - lower)) break;
      high = from;
      parts = lower;
    }
  }
  const search_pause own_part(w);
  whole.code.run_part(w, whole, low, high, 0, part_origin::taken_back);
  join_given_parts(w, whole);
}

void run_divided(worker_core& core, loop_state& whole, std::uint64_t low, std::uint64_t high,
                 part_origin origin) noexcept {
  auto& w = static_cast<worker&>(core);
  if (w.profile) return w.profile->run_loop(w, whole, low, high);
  const task_trace* const trace = w.place.path.trace;
  if (trace != nullptr && trace->places_loops()) return run_in_schedule(w, whole, low, high, origin);
  if (whole.kind == loop_kind::fixed) return run_fixed(w, whole, low, high, origin);
  if (trace != nullptr) {
    const search_pause here(w);
    return whole.code.run_part(w, whole, low, high, 0, origin);
  }
  // It crosses no workers, or was given to one who is blocked.
  if (!w.diverts) return whole.code.run_part(w, whole, low, high, 0, origin);
  division parts(w, &whole);
  while (w.diverts && high - low > 1) {
    std::uint64_t size = iterations_with(whole, low, high, parts.cut_off_at_boundary());
    size -= size % whole.grain;
    if (size != 0 && !parts.give(whole, low, low + size)) {
      parts.enter_nothing();
      break;
    }
    low += size;
    parts.enter_rest();
  }
  parts.enter_nothing();
  if (low < high) whole.code.run_part(w, whole, low, high, 0, origin);
  join_given_parts(w, whole);
}

bool fail_loop(worker& w, loop_share& f, std::uint64_t at) noexcept {
  const busy_section here(w);
  loop_state& whole = *f.whole;
  whole.error.note(w.common.mutexes.of(&whole), at);
  cut(whole, at);
  // What values were combined of when that threw may be above what the share has taken back since.
  if (f.next.load() < std::min(f.last.load(), at)) return true;
  // What it has left, here and in pieces, is above.
  f.next.store(f.last.load());
  while (take_back_newest(w, f)) f.next.store(f.last.load());
  wait_for_pieces(w, f, nullptr);
  return false;
}

void reject_weights(std::uint64_t entries, std::uint64_t items, const char* of) {
  throw std::invalid_argument("filch: a list of " + std::to_string(entries) + " weights for a loop of " +
                              std::to_string(items) + " " + of + "; give " + std::to_string(items + 1) +
                              ", each the work of all " + of + " before");
}

void reject_weight(std::uint64_t at, double before, double after) {
  throw std::invalid_argument("filch: weight " + std::to_string(at + 1) + " is " + std::to_string(after) + ", after " +
                              std::to_string(before) + "; each is the work of all iterations before, so none is less");
}

void rethrow_from(loop_state& whole) {
  if (const std::exception_ptr error = whole.error.take()) std::rethrow_exception(error);
}

}  // namespace filch::detail
