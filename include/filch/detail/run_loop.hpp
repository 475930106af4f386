// How a loop runs: the owner's part, inlined into the caller as far as it concerns the body.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stop_token>

#include <filch/detail/loop_frame.hpp>
#include <filch/detail/loop_site.hpp>
#include <filch/detail/worker_core.hpp>
#include <filch/loop.hpp>
#include <filch/scheduler.hpp>

namespace filch::detail {

/// Is the loop split on demand, by its frame being cut?
constexpr bool is_lazy(loop_kind kind) noexcept {
  return kind == loop_kind::standard || kind == loop_kind::lazy_depth || kind == loop_kind::lazy_depth2 ||
         kind == loop_kind::lazy_breadth;
}

/// Runs a chunk. A function of its own, with a copy of the block: in it the compiler sees a plain loop over locals.
template <class Block>
[[gnu::noinline]] void run_chunk(const Block& of, std::uint64_t low, std::uint64_t high, std::uint64_t& at,
                                 typename Block::values& values) {
  const Block block = of;
  block.run(low, high, at, values);
}

/// Runs a chunk, and now and then notes how long it took.
template <class Block>
void run_chunk_at(loop_site& site, const Block& block, std::uint64_t low, std::uint64_t high, std::uint64_t& at,
                  typename Block::values& values) {
  if (--site.until_timed != 0) [[likely]]
    return run_chunk(block, low, high, at, values);
  const std::uint64_t chunk = site.chunk.load();
  site.until_timed = loop_site::rarely;  // also for a chunk that throws
  const chunk_timer timer;
  run_chunk(block, low, high, at, values);
  const std::int64_t ns = timer.ns();
  // A shorter one says something only by being too long.
  if (!site.nests && site.chunk.load() == chunk && (high - low >= chunk || ns > loop_site::chunk_ns)) site.took(ns);
}

/// Before a chunk: does anybody want something, or does the loop end early?
inline bool must_look(const worker_core& w, const loop_whole& whole, bool polls) noexcept {
  return w.attention.load(std::memory_order_relaxed) == nullptr || polls ||    // [AT1]
         whole.cut_at.load(std::memory_order_relaxed) != loop_whole::nowhere;  // [LW1]
}

/// Chunks of one iteration, until the interval is empty. The one in progress is the one before `next`.
template <bool Plain, class Block>
void run_each(worker_core& w, const loop_whole& whole, loop_frame& f, const Block& of, typename Block::values& values) {
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
void run_chunks(worker_core& w, loop_frame& f, const Block& block, std::uint64_t& at, typename Block::values& values) {
  const std::uint64_t grain = f.whole->grain;
  while (f.next.load() < f.last.load() && (!f.site->nests || grain != 1)) {
    if (must_look(w, *f.whole, f.polls)) [[unlikely]]
      attend_loop(w, f);
    std::uint64_t size = std::max(f.site->chunk.load(), grain);
    if (grain != 1) size -= size % grain;
    const std::uint64_t from = f.next.load();
    const std::uint64_t to = f.begin_chunk(std::min(size, f.most));
    if (from == to) return;
    run_chunk_at(*f.site, block, from, to, at, values);
  }
}

/// `Plain`: the way to split is `standard`, without a grain or a stop; known where nearly all loops begin.
template <class Block, bool Plain>
void run_part(worker_core& w, loop_whole& whole, std::uint64_t low, std::uint64_t high, std::uint32_t chunks,
              part_origin origin) noexcept {
  const Block& block = *static_cast<const Block*>(whole.block);
  loop_site& site = w.sites->of(&key_of<Block>);
  const inside_site here(w, site);
  const bool lazy = Plain || is_lazy(whole.kind);
  const bool exact_chunks = !Plain && whole.grain_given && lazy && whole.kind != loop_kind::standard;
  loop_frame f{.whole = &whole,
               .outer = w.loops.load(),
               .next = platform::local<std::uint64_t>(low),
               .last = platform::local<std::uint64_t>(high),
               .number = next_number(w),
               .head = w.head.load(),
               .most = exact_chunks ? whole.grain : loop_whole::nowhere,
               .site = &site,
               .chunks = chunks,
               .gives = lazy,
               .shared = platform::local<bool>(!lazy || origin == part_origin::stolen),
               .polls = !Plain &&
                        (whole.stop != nullptr || (lazy && whole.kind != w.kind && whole.kind != loop_kind::standard))};
  platform::signal_fence();
  w.loops.store(&f);
  if (!lazy) begin_eager(w, f, origin);
  std::uint64_t at = loop_whole::nowhere;  // the iteration that threw, where it is not the one before `next`
  typename Block::values values;
  values.begin(low);
  try {
    for (bool more = true; more;) {
      while (f.next.load() < f.last.load()) {
        if (site.nests && (Plain || whole.grain == 1)) {
          at = loop_whole::nowhere;
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
    fail_loop(w, f, at != loop_whole::nowhere ? at : f.next.load() - 1);
  }
  w.loops.store(f.outer);
}

/// A loop that fits into one chunk: nothing of it could be given away. False: it does not.
template <class Block>
bool run_at_once(worker_core& w, const Block& block, std::uint64_t size) {
  loop_site& site = w.sites->of(&key_of<Block>);
  if (site.nests || size > site.chunk.load()) return false;
  if (w.must_attend(nullptr)) [[unlikely]]
    attend(w);
  const inside_site here(w, site);
  std::uint64_t at = 0;
  typename Block::values values;
  run_chunk_at(site, block, 0, size, at, values);
  block.end(w, size, values);
  return true;
}

/// `how` in two words: a struct with padding would be read back from memory before all of it is there.
template <class Block>
loop_status run_on(worker_core& w, const Block& block, loop_kind kind, std::uint64_t grain,
                   const std::stop_token* stop) {
  if (kind != loop_kind::inherited) [[unlikely]] {
    check_kind(w, kind);
  } else {
    kind = w.kind;
  }
  const bool plain = kind == loop_kind::standard && grain == 0 && stop == nullptr;
  const std::uint64_t size = block.size();
  if (size == 0 || (plain && run_at_once(w, block, size))) return loop_status::complete;
  loop_whole whole{.block = std::addressof(block),
                   .run_part = plain ? &run_part<Block, true> : &run_part<Block, false>,
                   .size = size,
                   .grain = std::max<std::uint64_t>(1, grain),
                   .stop = stop,
                   .kind = kind,
                   .grain_given = grain != 0};
  if (plain) {
    run_part<Block, true>(w, whole, 0, size, 0, part_origin::whole);
  } else {
    if (stop != nullptr && stop->stop_requested()) return loop_status::stopped;
    run_part<Block, false>(w, whole, 0, size, 0, part_origin::whole);
  }
  if (whole.cut_at.load(std::memory_order_relaxed) != loop_whole::nowhere) [[unlikely]]  // [LW1]
    rethrow_from(whole);
  return stop != nullptr && stop->stop_requested() ? loop_status::stopped : loop_status::complete;
}

template <class Block>
[[gnu::always_inline]] inline loop_status run_loop(const Block& block, splitting how,
                                                   const std::stop_token* stop = nullptr) {
  if (self == &foreign_worker) [[unlikely]] {
    return scheduler::default_scheduler().run([&] { return run_on(*self, block, how.kind, how.grain, stop); });
  }
  return run_on(*self, block, how.kind, how.grain, stop);
}

}  // namespace filch::detail
