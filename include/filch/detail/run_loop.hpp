// How a loop runs: the owner's part, inlined into the caller as far as it concerns the body.
#pragma once

#include <algorithm>
#include <cstdint>
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

/// Runs a chunk, and notes how long it took.
template <class Block>
[[gnu::noinline]] void run_timed(loop_site& site, const Block& block, std::uint64_t low, std::uint64_t high,
                                 std::uint64_t& at) {
  const std::uint64_t chunk = site.chunk;
  site.until_timed = loop_site::rarely;  // also for a chunk that throws
  const chunk_timer timer;
  block.run(low, high, at);
  const std::int64_t ns = timer.ns();
  // A shorter one says something only by being too long.
  if (!site.nests && site.chunk == chunk && (high - low >= chunk || ns > loop_site::chunk_ns)) site.took(ns);
}

/// Before a chunk: does anybody want something, or does the loop end early?
inline bool must_look(const worker_core& w, const loop_frame& f) noexcept {
  return w.attention.load(std::memory_order_relaxed) == nullptr || f.polls ||     // [AT1]
         f.whole->cut_at.load(std::memory_order_relaxed) != loop_whole::nowhere;  // [LW1]
}

template <class Block>
void run_part(worker_core& w, loop_whole& whole, std::uint64_t low, std::uint64_t high, std::uint32_t chunks,
              part_origin origin) noexcept {
  const Block block = *static_cast<const Block*>(whole.block);
  loop_site& site = w.sites->of(&key_of<Block>);
  const inside_site here(w, site);
  const bool lazy = is_lazy(whole.kind);
  loop_frame f{
      .whole = &whole,
      .outer = w.loops,
      .next = low,
      .last = high,
      .number = ++w.epoch,
      .head = w.head.load(),
      .least = whole.grain,
      .most = whole.grain_given && lazy && whole.kind != loop_kind::standard ? whole.grain : loop_whole::nowhere,
      .site = &site,
      .chunks = chunks,
      .gives = lazy,
      .shared = !lazy || origin == part_origin::stolen,
      .polls = whole.stop != nullptr || (lazy && whole.kind != w.kind && whole.kind != loop_kind::standard)};
  w.loops = &f;
  if (!lazy) begin_eager(w, f, origin);
  std::uint64_t at = low;
  try {
    do {
      while (f.next < f.last) {
        if (must_look(w, f)) [[unlikely]] {
          attend_loop(w, f);
          if (f.next == f.last) break;
        }
        const std::uint64_t from = f.next;
        if (site.nests && f.least == 1) {
          at = from;
          f.next = from + 1;
          block.run_one(from);
          continue;
        }
        std::uint64_t size = std::max(site.chunk, f.least);
        if (f.least != 1) size -= size % f.least;
        size = std::min({size, f.most, f.last - from});
        f.next = from + size;
        if (--site.until_timed == 0) [[unlikely]] {
          run_timed(site, block, from, from + size, at);
        } else {
          block.run(from, from + size, at);
        }
      }
    } while (f.shared && continue_loop(w, f));
  } catch (...) {
    fail_loop(w, f, at);
  }
  w.loops = f.outer;
}

template <class Block>
loop_status run_on(worker_core& w, const Block& block, splitting how, const std::stop_token* stop) {
  if (how.kind != loop_kind::inherited) [[unlikely]]
    check_kind(w, how.kind);
  loop_whole whole{.block = &block,
                   .run_part = &run_part<Block>,
                   .size = block.size(),
                   .grain = std::max<std::uint64_t>(1, how.grain),
                   .stop = stop,
                   .kind = how.kind != loop_kind::inherited ? how.kind : w.kind,
                   .grain_given = how.grain != 0};
  if (stop != nullptr && stop->stop_requested()) return loop_status::stopped;
  if (whole.size != 0) run_part<Block>(w, whole, 0, whole.size, 0, part_origin::whole);
  if (whole.cut_at.load(std::memory_order_relaxed) != loop_whole::nowhere) [[unlikely]]  // [LW1]
    rethrow_from(whole);
  return stop != nullptr && stop->stop_requested() ? loop_status::stopped : loop_status::complete;
}

template <class Block>
loop_status run_loop(const Block& block, splitting how, const std::stop_token* stop = nullptr) {
  if (self == &foreign_worker) [[unlikely]] {
    return scheduler::default_scheduler().run([&] { return run_on(*self, block, how, stop); });
  }
  return run_on(*self, block, how, stop);
}

}  // namespace filch::detail
