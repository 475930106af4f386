#include "loop/carve.hpp"

#include <algorithm>

#include "loop/share_bag.hpp"
#include "worker/loop_share.hpp"

namespace filch::detail {
namespace {

/// Chunks of about a microsecond: what it takes to be stolen from.
constexpr std::uint64_t worth_a_theft = 4;

/// Of a bag, so many chunks are shared at once at most.
constexpr std::uint32_t most_chunks = 4;

/// Fewer iterations are not worth a piece.
std::uint64_t least_piece(const loop_share& f) noexcept {
  return std::min(std::max(f.tuner->chunk.load(), f.whole->grain), f.most.load());
}

/// With less left, an owner that is about to go on is done before a thief would be. An iteration that is a chunk by
/// itself may be of any length.
std::uint64_t least_shared(const loop_share& f) noexcept {
  const bool by_the_clock = f.whole->kind == loop_kind::standard && !f.whole->grain_given;
  const std::uint64_t chunk = least_piece(f);
  return by_the_clock && chunk > 1 ? worth_a_theft * chunk : chunk;
}

bool can_give(const worker& w, const work_share& share) noexcept {
  if (!share.gives) return false;
  // In the middle of an item nothing of a bag is at rest.
  if (share.is_bag) return !w.interrupt.handling && can_give(w, static_cast<const bag_share&>(share));
  const auto& f = static_cast<const loop_share&>(share);
  const std::uint64_t next = f.next.load();
  const std::uint64_t last = f.last.load();
  if (next >= last) return false;
  // About to begin a chunk, the share's owner keeps that for itself.
  return last - next > least_shared(f) || &f != w.loops.polled;
}

/// Has it nothing to give, now and as long as there are shares inside of it? A bag may get items meanwhile.
bool has_given_all(const work_share& share) noexcept {
  if (!share.gives) return true;
  if (share.is_bag) return false;
  const auto& f = static_cast<const loop_share&>(share);
  return f.next.load() >= f.last.load();
}

/// The next outer share that may have something. What is between is passed once: else each answer of a worker that is in
/// thousands of loops would look at all of them.
work_share* next_outer(work_share& share) noexcept {
  work_share* outer = share.outer_giver;
  while (outer != nullptr && has_given_all(*outer)) outer = outer->outer_giver;
  share.outer_giver = outer;
  return outer;
}

/// Lets go of those of the share's pieces that have run. A long loop may give thousands of them.
void forget_finished(worker& w, loop_share& f) noexcept {
  for (piece** link = &f.newest; *link != nullptr;) {
    piece& p = **link;
    if (piece_pool::has_run(p)) {
      *link = p.older;
      w.pieces.put(p);
    } else {
      link = &p.older;
    }
  }
}

}  // namespace

work_share* giver(const worker& w, giving_order order, std::uint64_t above) noexcept {
  work_share* found = nullptr;
  for (work_share* f = w.loops.innermost.load(); f != nullptr && began_after(f->number, above); f = next_outer(*f)) {
    if (!can_give(w, *f)) continue;
    found = f;
    if (order == giving_order::innermost) break;
  }
  return found;
}

bool give(worker& w, loop_share& f, std::uint64_t size, std::uint32_t chunks) noexcept {
  const std::uint64_t last = f.last.load();
  const std::uint64_t from = whole_grains(f.next.load(), last - size, f.whole->grain);
  if (from > last || (from == last && size != 0)) return false;
  piece* const p = w.pieces.get();
  if (p == nullptr) return false;
  p->high.store(last);
  piece_pool::set_up(*p, &run_stolen_piece, f.number, f.whole);
  p->older = f.newest;
  f.newest = p;
  f.shared.store(true);
  f.last.store(from);
  w.pieces.offer(*p, {from, chunks}, w.new_id());
  w.count(&counters::transactions);
  return true;
}

bool give_half(worker& w, work_share& f) noexcept { return give_halves(w, f, 1) != 0; }

unsigned give_halves(worker& w, work_share& share, std::uint32_t hungry) noexcept {
  if (share.is_bag) {
    return give_half(w, static_cast<bag_share&>(share), std::min(hungry, most_chunks)) ? 1 : 0;
  }
  auto& f = static_cast<loop_share&>(share);
  forget_finished(w, f);
  const std::uint64_t least = least_piece(f);
  unsigned given = 0;
  for (; hungry != 0; hungry /= 2) {
    const std::uint64_t rest = f.last.load() - f.next.load();
    // The first is asked for. Further ones are to be worth what it takes to come for them, perhaps from another socket.
    if (given != 0 && rest / 2 < least_shared(f)) break;
    if (!give(w, f, rest > least ? rest / 2 : rest, 0)) break;
    ++given;
  }
  if (given != 0) w.count(&counters::splits);
  return given;
}

run_result run_stolen_piece(task& t, run_by /*who*/) {
  auto& p = static_cast<piece&>(t);
  const piece_start start = p.taken.load();
  // relaxed: acquired by who took it
  auto& whole = *static_cast<loop_state*>(p.whole.load(std::memory_order_relaxed));
  whole.code.run_part(*self, whole, start.low, p.high.load(), start.chunks, part_origin::stolen);
  return run_result::done;
}

}  // namespace filch::detail
