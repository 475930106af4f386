// How a loop runs: the owner's part, inlined into the caller as far as it concerns the body.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stop_token>

#include <filch/detail/chunk_tuner.hpp>
#include <filch/detail/loop_share.hpp>
#include <filch/detail/worker_core.hpp>
#include <filch/loop.hpp>
#include <filch/platform/ticks.hpp>
#include <filch/scheduler.hpp>

namespace filch::detail {

/// Is the loop split on demand, by its share being cut?
constexpr bool is_lazy(loop_kind kind) noexcept {
  return kind == loop_kind::standard || kind == loop_kind::lazy_depth || kind == loop_kind::lazy_depth2 ||
         kind == loop_kind::lazy_breadth;
}

/// Runs a chunk. A function of its own, with a copy of the block: in it the compiler sees a plain loop over locals. Aligned,
/// because otherwise it is the linker's luck how a loop of a few instructions lies: 95 or 160 ns for 1,000 floats on AMD
/// Zen 3.
template <class Block>
[[gnu::noinline, gnu::aligned(64)]] void run_chunk(const Block& of, std::uint64_t low, std::uint64_t high,
                                                   std::uint64_t& at, typename Block::values& values) {
  const Block block = of;
  block.run(low, high, at, values);
}

/// A call may run so many of its iterations before any of them has shown how long it takes: what was remembered of the
/// place may have been another kind of iteration.
inline std::uint64_t chunk_unseen(std::uint64_t left) noexcept { return std::max<std::uint64_t>(1, left / 16); }

/// Longer chunks of a short loop end at multiples of this: reductions combine so many leaves at once.
inline constexpr std::uint64_t chunk_row = 16;

/// Runs a chunk, and now and then notes how long it took.
template <class Block>
void run_chunk_at(chunk_tuner& tuner, const Block& block, std::uint64_t low, std::uint64_t high, std::uint64_t& at,
                  typename Block::values& values) {
  if (--tuner.until_timed != 0) [[likely]]
    return run_chunk(block, low, high, at, values);
  const std::uint64_t chunk = tuner.chunk.load();
  tuner.until_timed = chunk_tuner::rarely;  // also for a chunk that throws
  const chunk_timer timer;
  run_chunk(block, low, high, at, values);
  const std::int64_t ns = timer.ns();
  if (tuner.nests || tuner.chunk.load() != chunk) return;
  // A loop begins with shorter ones. What they say of a full one is too much by the clock's own time, and believed only
  // if there is no doubt.
  const std::uint64_t size = high - low;
  const std::int64_t full_ns = size >= chunk ? ns : ns * static_cast<std::int64_t>(chunk / size);
  if (size >= chunk || full_ns < chunk_tuner::chunk_ns || ns > chunk_tuner::chunk_ns) tuner.took(full_ns);
}

/// What the chunks of one part of a loop show.
class pace {
 public:
  explicit pace(std::uint64_t grain) noexcept : grain_(grain), since_(platform::ticks()) {}

  /// A chunk of so many iterations is over: those after it may be longer if it was short, and are shorter if it was
  /// long.
  void took(loop_share& f, std::uint64_t iterations) noexcept {
    const std::uint64_t now = platform::ticks();
    const std::uint64_t ticks = now - since_;
    since_ = now;
    const std::uint64_t slow = platform::ticks_of_some_us();
    if (ticks > slow) [[unlikely]] {
      f.slow = true;
      f.most.store(std::max(grain_, iterations / (ticks / slow + 1)));
    } else if (const std::uint64_t most = f.most.load(); most < chunk_tuner::largest_chunk) {
      f.most.store(2 * most);
    }
  }

 private:
  std::uint64_t grain_;
  std::uint64_t since_;
};

/// Before a chunk: does anybody want something, or does the loop end early?
inline bool must_look(const worker_core& w, const loop_state& whole, bool polls) noexcept {
  return w.attention.load(std::memory_order_relaxed) == nullptr || polls ||    // [AT1]
         whole.cut_at.load(std::memory_order_relaxed) != loop_state::nowhere;  // [LW1]
}

/// Chunks of one iteration, until the interval is empty. The one in progress is the one before `next`.
template <bool Plain, class Block>
void run_each(worker_core& w, const loop_state& whole, loop_share& f, const Block& of, typename Block::values& values) {
  const Block block = of;
  // Nobody else moves `next`: what is read back from memory at once would hold up the next iteration.
  for (std::uint64_t i = f.next.load(); f.begin_iteration(i); ++i) {
    if (must_look(w, whole, !Plain && f.polls)) [[unlikely]] {
      f.next.store(i);
      attend_loop(w, f);
      if (!f.begin_iteration(i)) return;
    }
    block.run_one(i, values);
  }
}

/// Chunks of about a microsecond, until the interval is empty or an iteration shows that there are loops in it.
template <class Block>
void run_chunks(worker_core& w, loop_share& f, const Block& block, std::uint64_t& at, typename Block::values& values) {
  const std::uint64_t grain = f.whole->grain;
  pace shown(grain);
  while (f.next.load() < f.last.load() && (!f.tuner->nests || grain != 1)) {
    if (must_look(w, *f.whole, f.polls)) [[unlikely]]
      attend_loop(w, f);
    std::uint64_t size = std::min(std::max(f.tuner->chunk.load(), grain), f.most.load());
    if (grain != 1) size -= size % grain;
    const std::uint64_t from = f.next.load();
    const std::uint64_t to = f.begin_chunk(size);
    if (from == to) return;
    run_chunk_at(*f.tuner, block, from, to, at, values);
    if (!f.exact) shown.took(f, to - from);
  }
}

/// `Plain`: the way to split is `standard`, without a grain or a stop; known where nearly all loops begin.
template <class Block, bool Plain>
void run_part(worker_core& w, loop_state& whole, std::uint64_t low, std::uint64_t high, std::uint32_t chunks,
              part_origin origin) noexcept {
  const Block& block = *static_cast<const Block*>(whole.block);
  chunk_tuner& tuner = w.loops.tuners->of(&key_of<Block>);
  const inside_chunk here(w, tuner);
  const bool lazy = Plain || is_lazy(whole.kind);
  const bool exact_chunks = !Plain && whole.grain_given && lazy && whole.kind != loop_kind::standard;
  loop_share f(w, lazy, whole, tuner, low, high);
  f.most.store(exact_chunks ? whole.grain : std::max(whole.grain, chunk_unseen(high - low)));
  f.chunks = chunks;
  f.exact = exact_chunks;
  f.slow = low != 0;  // what has run so far was longer than it was to be; or somebody has stolen this, and is awake
  f.shared.store(!lazy || origin == part_origin::stolen);
  f.polls =
      !Plain && (whole.stop != nullptr || (lazy && whole.kind != w.loops.kind && whole.kind != loop_kind::standard));
  platform::signal_fence();
  w.loops.innermost.store(&f);
  if (!lazy) begin_eager(w, f, origin);
  std::uint64_t at = loop_state::nowhere;  // the iteration that threw, where it is not the one before `next`
  typename Block::values values;
  values.begin(low);
  try {
    for (bool more = true; more;) {
      while (f.next.load() < f.last.load()) {
        if (tuner.nests && (Plain || whole.grain == 1)) {
          at = loop_state::nowhere;
          run_each<Plain>(w, whole, f, block, values);
        } else {
          run_chunks(w, f, block, at, values);
        }
      }
      const std::uint64_t end = f.next.load();
      more = f.shared.load() && continue_loop(w, f);
      if (!more || f.next.load() != end) {
        block.end(w, end, values);
        values.begin(f.next.load());
      }
    }
  } catch (...) {
    fail_loop(w, f, at != loop_state::nowhere ? at : f.next.load() - 1);
  }
  w.loops.innermost.store(f.outer);
}

/// A loop that would fit into one chunk, as far as the place is known: runs it without a share, as long as it is no
/// longer than that. It begins with little and looks around in between, since nobody can have a part of what has begun.
/// @return how many iterations it has run; the others are for a share.
template <class Block>
std::uint64_t run_at_once(worker_core& w, const Block& block, std::uint64_t size) {
  chunk_tuner& tuner = w.loops.tuners->of(&key_of<Block>);
  if (tuner.nests || size > tuner.chunk.load()) return 0;
  if (w.must_attend(nullptr)) [[unlikely]] {
    if (w.diverts) return 0;
    attend(w);
  }
  const bool asked = w.must_attend(nullptr);  // by somebody who is there all the time, for all that is known
  const std::uint64_t since = asked ? platform::ticks() : 0;
  const inside_chunk here(w, tuner);
  const std::uint64_t least = chunk_unseen(size);
  std::uint64_t at = 0;
  std::uint64_t low = 0;
  typename Block::values values;
  for (std::uint64_t chunk = least;;) {
    std::uint64_t high = low + chunk;
    if (chunk >= chunk_row) high += -high % chunk_row;
    high = std::min(high, size);
    run_chunk_at(tuner, block, low, high, at, values);
    low = high;
    if (low == size) break;
    if (w.must_attend(nullptr) && (!asked || platform::ticks() - since > platform::ticks_of_some_us())) [[unlikely]]
      break;
    // What is left is no longer than what has run: one chunk.
    const std::uint64_t left = size - low;
    chunk = left <= low ? left : std::max(least, std::min(4 * chunk, size / 4));
  }
  block.end(w, low, values);
  return low;
}

/// `how` in two words: a struct with padding would be read back from memory before all of it is there.
template <class Block>
loop_status run_on(worker_core& w, const Block& block, loop_kind kind, std::uint64_t grain, const std::stop_token* stop,
                   const weight_sums* weights) {
  if (kind != loop_kind::inherited) [[unlikely]] {
    kind = checked_kind(w, kind);
  } else {
    kind = w.loops.kind;
  }
  const bool plain = kind == loop_kind::standard && grain == 0 && stop == nullptr;
  const std::uint64_t size = block.size();
  const std::uint64_t done = plain && size != 0 ? run_at_once(w, block, size) : 0;
  if (done == size) return loop_status::complete;
  loop_state whole{.block = std::addressof(block),
                   .run_part = plain ? &run_part<Block, true> : &run_part<Block, false>,
                   .size = size,
                   .grain = std::max<std::uint64_t>(1, grain),
                   .stop = stop,
                   .kind = kind,
                   .grain_given = grain != 0,
                   .weights = weights,
                   .name = name_of_type<Block>()};
  if (!plain && stop != nullptr && stop->stop_requested()) return loop_status::stopped;
  if ((w.diverts && (kind == loop_kind::standard || w.place.path.trace != nullptr)) || kind == loop_kind::fixed)
      [[unlikely]] {
    run_divided(w, whole, done, size, part_origin::whole);
  } else if (plain) {
    run_part<Block, true>(w, whole, done, size, 0, part_origin::whole);
  } else {
    run_part<Block, false>(w, whole, 0, size, 0, part_origin::whole);
  }
  if (whole.cut_at.load(std::memory_order_relaxed) != loop_state::nowhere) [[unlikely]]  // [LW1]
    rethrow_from(whole);
  return stop != nullptr && stop->stop_requested() ? loop_status::stopped : loop_status::complete;
}

template <class Block>
[[gnu::always_inline]] inline loop_status run_loop(const Block& block, splitting how,
                                                   const std::stop_token* stop = nullptr,
                                                   const weight_sums* weights = nullptr) {
  if (self == &foreign_worker) [[unlikely]] {
    return scheduler::default_scheduler().run([&] { return run_on(*self, block, how.kind, how.grain, stop, weights); });
  }
  return run_on(*self, block, how.kind, how.grain, stop, weights);
}

}  // namespace filch::detail
