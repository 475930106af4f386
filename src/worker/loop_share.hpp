// Loops in progress as the scheduler sees them (docs/protocols/loops.md).
//
// A loop is one `loop_state`, in the frame of the function that runs it, and one `loop_share` for each worker that runs
// a part of it. A share is an interval of the loop's iterations: its owner runs it from the low end, and cuts pieces
// off its high end for others. What has been cut off is in the share's list of pieces until it has run.
//
// Invariants
//  1. [next, last) is what the owner has not begun. The owner alone changes it, between its own instructions; or an
//     interrupt of it does, which lowers `last` to no less than `next`. So the owner raises `next` before it looks how
//     far it may go, and takes that back when it was too far, or when it ends a chunk early.
//  2. Pieces on offer are above the share's interval, the newest nearest to it. So taking them back newest first runs a
//     loop that nobody helps with in serial order.
//  3. A share ends when its interval is empty and each of its pieces was taken back or has run.
//  4. Intervals and pieces begin at multiples of the grain, so that only the end of a loop has less.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stop_token>

#include <filch/detail/loop_code.hpp>
#include <filch/detail/work_share.hpp>
#include <filch/detail/worker_core.hpp>
#include <filch/loop.hpp>
#include <filch/platform/memory.hpp>

#include "worker/lowest_exception.hpp"

namespace filch::detail {

class worker;

struct loop_state {
  static constexpr std::uint64_t nowhere = std::numeric_limits<std::uint64_t>::max();

  const loop_code& code;
  const void* block;    ///< shape and body
  std::uint64_t size;   ///< iterations
  std::uint64_t grain;  ///< at least 1
  const std::stop_token* stop;
  loop_kind kind;  ///< not `inherited`
  bool grain_given;
  const weight_sums* weights = nullptr;  ///< null: none
  /// Iterations from here on need not run: the lowest one that threw, or 0 after a stop. [LW1] relaxed: a hint to end
  /// early; the exception itself is handed over under a lock, and by the joins of the pieces.
  platform::atomic<std::uint64_t> cut_at{nowhere};
  platform::atomic<std::uint64_t> handed_out{0};  ///< kind `dynamic`: grains that somebody has
  // Under one of the scheduler's locks (striped_mutex): of the lowest iteration that threw. Here, since there may be no memory for it
  // elsewhere.
  lowest_exception error{};
};

/// So many of the iterations that are left may run before any of them has shown how long it takes: what was remembered of
/// the place may have been another kind of iteration.
[[nodiscard]] inline std::uint64_t chunk_unseen(std::uint64_t left) noexcept {
  return std::max<std::uint64_t>(1, left / 16);
}

struct loop_share : work_share {
  loop_share(worker_core& w, bool on_request, loop_state& of, chunk_tuner& at, std::uint64_t low,
             std::uint64_t high) noexcept
      : work_share(w, false, on_request), whole(&of), next(low), last(high), tuner(&at) {}

  loop_state* whole;
  platform::local<std::uint64_t> next;
  platform::local<std::uint64_t> last;
  /// Iterations of a chunk, at most: what this part of the loop has shown so far to be short enough.
  platform::local<std::uint64_t> most{};
  chunk_tuner* tuner;
  std::uint32_t chunks = 0;             ///< kind `automatic`: into so many more it may be cut
  bool exact = false;                   ///< chunks of `most` iterations, whatever they show
  platform::local<bool> shared{false};  ///< somebody else has a part of the loop, or had one, or may have
  bool polls = false;                   ///< has to look around after each chunk, asked or not
  bool slow = false;                    ///< it has shown to be longer than it was to be
  bool alone = false;                   ///< nobody was woken for it, since it was to be short

  /// Owner. The interval is a new one.
  void begin_unseen() noexcept {
    most.store(exact ? whole->grain : std::max(whole->grain, chunk_unseen(last.load() - next.load())));
  }
  /// Owner. Begins iteration i, which is `next`. False: it is not the share's any more.
  bool begin_iteration(std::uint64_t i) noexcept {
    next.store(i + 1);
    platform::signal_fence();
    if (i < last.load()) [[likely]]
      return true;
    next.store(i);
    return false;
  }
  /// Owner. Begins a chunk at `next`, of so many iterations or what is left. Where it ends; `next` itself: nothing is
  /// left.
  std::uint64_t begin_chunk(std::uint64_t size) noexcept {
    const std::uint64_t from = next.load();
    const std::uint64_t seen = last.load();
    std::uint64_t to = from + (seen - from < size ? seen - from : size);
    next.store(to);
    platform::signal_fence();
    if (const std::uint64_t now = last.load(); now < to) [[unlikely]] {  // an interrupt has cut in between
      to = now;
      next.store(to);
    }
    return to;
  }
};

/// Runs iterations of a loop whose parts have places: on a worker that searches, divides them among the workers of its
/// range first; of a loop of kind `fixed`, among all.
[[gnu::cold, gnu::noinline]] void run_divided(worker_core& w, loop_state& whole, std::uint64_t low, std::uint64_t high,
                                              part_origin origin) noexcept;

/// Runs the first of so many parts of [low, high), and gives the others to the workers after `first`, in halves: who gets
/// a half does the same with it, so that wake-ups spread as a tree.
void run_fixed(worker& w, loop_state& whole, std::uint64_t low, std::uint64_t high, std::uint32_t first,
               std::uint64_t parts) noexcept;

}  // namespace filch::detail
