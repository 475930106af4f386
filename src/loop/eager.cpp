#include "loop/eager.hpp"

#include <algorithm>

#include "loop/carve.hpp"
#include "worker/loop_share.hpp"
#include "worker/team.hpp"

namespace filch::detail {
namespace {

std::uint64_t size_of(const loop_share& f) noexcept { return f.last.load() - f.next.load(); }

// Halves are pushed, the outermost first, until a grain is left.
bool begin_simple(worker& w, loop_share& f) noexcept {
  bool gave = false;
  while (size_of(f) > f.whole->grain && give(w, f, size_of(f) / 2, 0)) gave = true;
  return gave;
}

// The same until the chunks run out, whose number is halved as well.
bool begin_automatic(worker& w, loop_share& f, part_origin origin) noexcept {
  if (origin == part_origin::stolen) {
    f.chunks = std::max(f.chunks, automatic_chunks_if_stolen);
  } else if (origin == part_origin::whole) {
    f.chunks = automatic_chunks_per_worker * static_cast<std::uint32_t>(w.common.workers);
  }
  bool gave = false;
  while (f.chunks > 1 && size_of(f) > f.whole->grain) {
    const std::uint32_t given = f.chunks / 2;
    if (!give(w, f, size_of(f) / 2, given)) break;
    f.chunks -= given;
    gave = true;
  }
  return gave;
}

// One grain is kept, the rest is one piece.
bool begin_work_first(worker& w, loop_share& f) noexcept {
  return size_of(f) > f.whole->grain && give(w, f, size_of(f) - f.whole->grain, 0);
}

// A piece for each grain but the first, the last one first, so that the owner goes on in order.
bool begin_help_first(worker& w, loop_share& f) noexcept {
  bool gave = false;
  while (size_of(f) > f.whole->grain) {
    const std::uint64_t odd = size_of(f) % f.whole->grain;
    if (!give(w, f, odd != 0 ? odd : f.whole->grain, 0)) break;
    gave = true;
  }
  return gave;
}

bool begin_fixed(worker& w, loop_share& f) noexcept {
  bool gave = false;
  for (auto parts = static_cast<std::uint64_t>(w.common.workers); parts > 1 && size_of(f) > f.whole->grain; --parts) {
    const std::uint64_t size = std::max(size_of(f) / parts, f.whole->grain);
    if (size >= size_of(f) || !give(w, f, size, 0)) break;
    gave = true;
  }
  return gave;
}

// Empty pieces: who takes one gets chunks. The iterations are the whole loop's.
bool begin_dynamic(worker& w, loop_share& f) noexcept {
  const std::uint64_t grain = f.whole->grain;
  const std::uint64_t chunks = size_of(f) / grain + (size_of(f) % grain != 0 ? 1 : 0);
  f.last.store(f.next.load());
  bool gave = false;
  for (std::uint64_t n = std::min<std::uint64_t>(static_cast<std::uint64_t>(w.common.workers), chunks); n > 1; --n) {
    if (!give(w, f, 0, 0)) break;
    gave = true;
  }
  return gave;
}

}  // namespace

bool begin_eagerly(worker& w, loop_share& f, part_origin origin) noexcept {
  const std::uint64_t cut_at = f.whole->cut_at.load(std::memory_order_relaxed);  // [LW1]
  if (cut_at < f.last.load()) f.last.store(std::max(f.next.load(), cut_at));
  switch (f.whole->kind) {
    case loop_kind::simple:
      return begin_simple(w, f);
    case loop_kind::automatic:
      return begin_automatic(w, f, origin);
    case loop_kind::work_first:
      return begin_work_first(w, f);
    case loop_kind::help_first:
      // Its pieces are not cut again.
      return begin_help_first(w, f);
    case loop_kind::fixed:
      return origin == part_origin::whole && begin_fixed(w, f);
    case loop_kind::dynamic:
      return origin == part_origin::whole && begin_dynamic(w, f);
    default:
      return false;
  }
}

namespace {

std::uint64_t upper_half(const loop_state& whole, std::uint64_t low, std::uint64_t high) noexcept {
  return std::min(high, whole_grains(low, high - (high - low) / 2, whole.grain));
}

}  // namespace

piece_start rest_of_piece(const loop_state& whole, piece_start start, std::uint64_t high) noexcept {
  const std::uint64_t size = high - start.low;
  if (whole.cut_at.load(std::memory_order_relaxed) <= start.low) return {high, 0};  // [LW1]
  switch (whole.kind) {
    case loop_kind::work_first:
      if (size > whole.grain) return {start.low + whole.grain, 0};
      break;
    case loop_kind::automatic:
      if (start.chunks > 1 && size > whole.grain) return {upper_half(whole, start.low, high), start.chunks / 2};
      break;
    case loop_kind::simple:
    case loop_kind::lazy_depth:
    case loop_kind::lazy_depth2:
    case loop_kind::lazy_breadth:
      if (size > whole.grain) return {upper_half(whole, start.low, high), 0};
      break;
    default:
      break;
  }
  return {high, 0};
}

bool next_handed_out(loop_share& f) noexcept {
  loop_state& whole = *f.whole;
  // [LW2] relaxed: only who gets which iterations; the loop's data came with the piece, the results go with its join.
  // Grains are counted, since iterations might be counted beyond 2^64.
  const std::uint64_t grains = whole.size / whole.grain + (whole.size % whole.grain != 0 ? 1 : 0);
  const std::uint64_t which = whole.handed_out.load(std::memory_order_relaxed) < grains
                                  ? whole.handed_out.fetch_add(1, std::memory_order_relaxed)
                                  : grains;
  const std::uint64_t low = which < grains ? which * whole.grain : whole.size;
  const std::uint64_t end = std::min(whole.size, whole.cut_at.load(std::memory_order_relaxed));  // [LW1]
  if (low >= end) return false;
  f.next.store(low);
  f.last.store(low + std::min(whole.grain, end - low));
  return true;
}

}  // namespace filch::detail
