// How a worker runs its part of a loop, but for what each loop has of its own (loop_code): docs/protocols/loops.md.
#include <algorithm>
#include <cstdint>
#include <stop_token>

#include <filch/detail/chunk_tuner.hpp>
#include <filch/detail/run_loop.hpp>
#include <filch/loop.hpp>
#include <filch/platform/ticks.hpp>
#include <filch/scheduler.hpp>

#include "loop/loops.hpp"
#include "worker/loop_share.hpp"
#include "worker/team.hpp"
#include "worker/worker.hpp"

namespace filch::detail {
namespace {

/// Longer chunks of a short loop end at multiples of this: reductions combine so many leaves at once.
constexpr std::uint64_t chunk_row = 16;

/// What takes longer counts as this long, so that chunk_tuner::largest_chunk times that is a number.
constexpr std::int64_t longest_ns = 1'000'000'000;

/// Inside of a chunk the worker looks around after so many iterations. A loop in between costs 2 to 6 ns, as far as its processor has
/// learned when it ends; so where iterations are as fast as vectors, and alike, after more of them.
constexpr std::uint64_t least_between_looks = 64;
constexpr std::uint64_t most_that_differ = 4096;  ///< iterations of a microsecond
constexpr std::uint64_t looks_in_chunk = 16;

/// One worker's run through a loop: its code, its block, and what the worker gathers.
struct gathering {
  const worker& w;
  const loop_code& code;
  const void* block;
  void* values;

  void begin(std::uint64_t first) const noexcept {
    if (code.begin_values != nullptr) code.begin_values(block, first, values);
  }
  void end(std::uint64_t end) const {
    if (code.end_values != nullptr) code.end_values(block, end, values);
  }
  void run_iteration(std::uint64_t i, std::uint64_t& at) const {
    code.run_chunk(block, i, i + 1, {.at = &w, .each = 1}, at, values);
  }
  /// Runs a chunk that began at that tick. If it is long, and somebody asks for something, it ends after a multiple of the grain.
  /// `full`: iterations of a chunk of the full size. @return where it ended.
  std::uint64_t run(std::uint64_t low, std::uint64_t high, std::uint64_t full, std::uint64_t grain, std::uint64_t since,
                    std::uint64_t& at) const {
    std::uint64_t each = full <= most_that_differ ? least_between_looks : full / looks_in_chunk;
    each += grain - 1 - (each - 1) % grain;
    if (w.common.team.size() == 1) each = high - low;  // nobody asks
    for (;;) {
      low = code.run_chunk(block, low, high, {.at = &w, .each = each}, at, values);
      if (low == high || platform::ticks() - since > platform::ticks_of_some_us()) return low;
      each *= 4;  // what was asked for is not to be had now, or soon
    }
  }

  /// The same, and now and then notes how long it took.
  std::uint64_t run_timed(chunk_tuner& tuner, std::uint64_t low, std::uint64_t high, std::uint64_t grain,
                          std::uint64_t since, std::uint64_t& at) const {
    const std::uint64_t chunk = tuner.chunk.load();
    if (--tuner.until_timed != 0) [[likely]]
      return run(low, high, chunk, grain, since, at);
    tuner.until_timed = chunk_tuner::rarely;  // also for a chunk that throws
    const chunk_timer timer;
    if (const std::uint64_t end = run(low, high, chunk, grain, since, at); end != high) return end;
    note(tuner, high - low, chunk, timer.ns());
    return high;
  }

 private:
  /// A chunk of so many iterations took so long, where one of the full size had so many.
  static void note(chunk_tuner& tuner, std::uint64_t size, std::uint64_t chunk, std::int64_t ns) noexcept {
    if (tuner.nests || tuner.chunk.load() != chunk) return;
    // A loop begins with shorter ones. What they say of a full one is too much by the clock's own time, and believed
    // only if there is no doubt.
    const std::int64_t full_ns =
        size >= chunk ? ns : std::min(ns, longest_ns) * static_cast<std::int64_t>(chunk / size);
    if (size >= chunk || full_ns < chunk_tuner::chunk_ns || ns > chunk_tuner::chunk_ns) tuner.took(full_ns);
  }
};

/// What the chunks of one part of a loop show.
class pace {
 public:
  explicit pace(std::uint64_t grain) noexcept : grain_(grain), since_(platform::ticks()) {}

  /// Ticks, when the latest chunk ended.
  [[nodiscard]] std::uint64_t since() const noexcept { return since_; }
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
bool must_look(const worker_core& w, const loop_state& whole, bool polls) noexcept {
  return w.attention.load(std::memory_order_relaxed) == nullptr || polls ||    // [AT1]
         whole.cut_at.load(std::memory_order_relaxed) != loop_state::nowhere;  // [LW1]
}

/// Chunks of one iteration, until the interval is empty or iterations show that there are no loops in them any more. The one in
/// progress is the one before `next`.
void run_each(worker& w, loop_share& f, const gathering& part) {
  const loop_state& whole = *f.whole;
  const bool polls = f.polls;
  std::uint64_t at = 0;
  // Nobody else moves `next`: what is read back from memory at once would hold up the next iteration.
  for (std::uint64_t i = f.next.load(); f.begin_iteration(i); ++i) {
    if (must_look(w, whole, polls)) [[unlikely]] {
      f.next.store(i);
      attend_loop(w, f);
      if (!f.begin_iteration(i)) return;
    }
    part.run_iteration(i, at);
    if (i % 16 == 15 && f.tuner->ran_each()) [[unlikely]]
      return;
  }
}

/// Chunks of about a microsecond, until the interval is empty or an iteration shows that there are loops in it.
void run_chunks(worker& w, loop_share& f, const gathering& part, std::uint64_t& at) {
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
    const std::uint64_t end = part.run_timed(*f.tuner, from, to, grain, shown.since(), at);
    if (end != to) [[unlikely]]
      f.next.store(end);  // what it has not begun is the share's again
    if (!f.exact) shown.took(f, end - from);
  }
}

/// A loop that would fit into one chunk, as far as the place is known: runs it without a share, as long as it is no
/// longer than that. It begins with little and looks around in between, since nobody can have a part of what has begun.
/// @return how many iterations it has run; the others are for a share.
std::uint64_t run_at_once(worker_core& w, const gathering& whole, std::uint64_t size) {
  chunk_tuner& tuner = w.loops.tuners->of_begun(&whole.code);
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
  for (std::uint64_t chunk = least;;) {
    std::uint64_t high = low + chunk;
    if (chunk >= chunk_row) high += -high % chunk_row;
    high = std::min(high, size);
    low = whole.run_timed(tuner, low, high, 1, since, at);
    if (low != high || low == size) break;
    if (w.must_attend(nullptr) && (!asked || platform::ticks() - since > platform::ticks_of_some_us())) [[unlikely]]
      break;
    // What is left is no longer than what has run: one chunk.
    const std::uint64_t left = size - low;
    chunk = left <= low ? left : std::max(least, std::min(4 * chunk, size / 4));
  }
  whole.end(low);
  return low;
}

/// Of a thread outside of a scheduler.
[[gnu::cold, gnu::noinline]] loop_status run_from_outside(const loop_code& code, const void* block, std::uint64_t size,
                                                          splitting how, const std::stop_token* stop,
                                                          const weight_sums* weights, void* values) {
  return scheduler::default_scheduler().run([&] { return run_loop(code, block, size, how, stop, weights, values); });
}

}  // namespace

loop_status run_loop(const loop_code& code, const void* block, std::uint64_t size, splitting how,
                     const std::stop_token* stop, const weight_sums* weights, void* values) {
  worker_core& w = *self;
  if (&w == &foreign_worker) [[unlikely]]
    return run_from_outside(code, block, size, how, stop, weights, values);
  const loop_kind kind = how.kind != loop_kind::inherited ? checked_kind(w, how.kind) : w.loops.kind;
  if (stop != nullptr && stop->stop_requested()) return loop_status::stopped;
  const bool plain = kind == loop_kind::standard && how.grain == 0 && stop == nullptr;
  const gathering caller{static_cast<worker&>(w), code, block, values};
  const std::uint64_t done = plain && size != 0 ? run_at_once(w, caller, size) : 0;
  if (done == size) return loop_status::complete;
  loop_state whole{.code = code,
                   .block = block,
                   .size = size,
                   .grain = std::max<std::uint64_t>(1, how.grain),
                   .stop = stop,
                   .kind = kind,
                   .grain_given = how.grain != 0,
                   .weights = weights};
  if ((w.diverts && (kind == loop_kind::standard || w.place.path.trace != nullptr)) || kind == loop_kind::fixed)
      [[unlikely]] {
    run_divided(w, whole, done, size, part_origin::whole);
  } else {
    run_part(w, whole, done, size, 0, part_origin::whole, values);
  }
  if (whole.cut_at.load(std::memory_order_relaxed) != loop_state::nowhere) [[unlikely]]  // [LW1]
    rethrow_from(whole);
  return stop != nullptr && stop->stop_requested() ? loop_status::stopped : loop_status::complete;
}

void run_part(worker_core& core, loop_state& whole, std::uint64_t low, std::uint64_t high, std::uint32_t chunks,
              part_origin origin, void* values) noexcept {
  auto& w = static_cast<worker&>(core);
  const gathering part{w, whole.code, whole.block, values};
  chunk_tuner& tuner = w.loops.tuners->of_begun(&whole.code);
  const inside_chunk here(w, tuner);
  const bool lazy = is_lazy(whole.kind);
  loop_share f(w, lazy, whole, tuner, low, high);
  f.chunks = chunks;
  f.exact = whole.grain_given && lazy && whole.kind != loop_kind::standard;
  f.begin_unseen();
  f.slow = low != 0;  // what has run so far was longer than it was to be; or somebody has stolen this, and is awake
  f.shared.store(!lazy || origin == part_origin::stolen);
  f.polls = whole.stop != nullptr || (lazy && whole.kind != w.loops.kind && whole.kind != loop_kind::standard);
  platform::signal_fence();
  w.loops.innermost.store(&f);
  if (!lazy) begin_eager(w, f, origin);
  std::uint64_t at = loop_state::nowhere;  // what threw, where it is not the iteration before `next`
  for (bool more = true; more;) {
    part.begin(f.next.load());
    try {
      while (more) {
        while (f.next.load() < f.last.load()) {
          if (tuner.nests && whole.grain == 1) {
            at = loop_state::nowhere;
            run_each(w, f, part);
          } else {
            run_chunks(w, f, part, at);
          }
        }
        const std::uint64_t end = f.next.load();
        more = f.shared.load() && continue_loop(w, f);
        if (more && f.next.load() == end) continue;
        at = end - 1;
        part.end(end);
        part.begin(f.next.load());
      }
    } catch (...) {
      more = fail_loop(w, f, at != loop_state::nowhere ? at : f.next.load() - 1);
    }
  }
  w.loops.innermost.store(f.outer);
  // Short loops note that as well, but not those in others: they are many, and to note each costs more than it brings.
  if (tuner.nests && here.is_outermost() && f.next.load() != low) static_cast<void>(tuner.ran_each());
}

void run_plain_part(worker_core& w, loop_state& whole, std::uint64_t low, std::uint64_t high, std::uint32_t chunks,
                    part_origin origin) noexcept {
  no_values none;
  run_part(w, whole, low, high, chunks, origin, &none);
}

}  // namespace filch::detail
