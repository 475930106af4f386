#include "loop/share_bag.hpp"

#include <algorithm>
#include <new>
#include <vector>

#include <filch/detail/task_counts.hpp>

#include "worker/sleepers.hpp"

namespace filch::detail {
namespace {

run_result run_stolen_chunk(task& t, run_by /*who*/) {
  auto& p = static_cast<piece&>(t);
  bag_chunk& chunk = *p.chunk.load();
  if (chunk.whole->counts == nullptr) {
    chunk.whole->run_stolen(*self, chunk, p);
    return run_result::done;
  }
  {
    // Who shared it is not to wait for its end.
    const busy_section here(*self);
    worker::finish(p, static_cast<worker&>(*chunk.sharer), run_result::done);
  }
  chunk.whole->run_stolen(*self, chunk, p);
  return run_result::released;
}

void link_newest(bag_share& part, piece& p) noexcept {
  p.newer = nullptr;
  p.older = part.newest;
  (p.older != nullptr ? p.older->newer : part.oldest) = &p;
  part.newest = &p;
}

void unlink(bag_share& part, piece& p) noexcept {
  (p.newer != nullptr ? p.newer->older : part.newest) = p.older;
  (p.older != nullptr ? p.older->newer : part.oldest) = p.newer;
}

/// A piece of the list has turned out to be taken.
void set_aside(worker& w, bag_share& part, piece& p) noexcept {
  unlink(part, p);
  if (piece_pool::has_run(p)) {
    w.pieces.put(p);
    return;
  }
  w.pieces.conceal(p);
  p.older = part.taken;
  part.taken = &p;
  ++part.taken_count;
}

/// Lets go of the pieces that have run.
void forget_run(worker& w, bag_share& part) noexcept {
  for (piece** link = &part.taken; *link != nullptr;) {
    piece& p = **link;
    if (piece_pool::has_run(p)) {
      *link = p.older;
      --part.taken_count;
      w.pieces.put(p);
    } else {
      link = &p.older;
    }
  }
}

/// Thieves take the oldest first: what is no longer on offer at that end need not be looked at again.
void tidy(worker& w, bag_share& part) noexcept {
  while (part.oldest != nullptr && !piece_pool::on_offer(*part.oldest)) set_aside(w, part, *part.oldest);
  if (part.taken_count < part.tidy_at) return;
  forget_run(w, part);
  // Rarely enough that it costs nothing for each piece.
  part.tidy_at = std::max<std::uint32_t>(64, 2 * part.taken_count);
}

piece* get_piece(worker& w, bag_share& part) noexcept {
  tidy(w, part);
  if (piece* const p = w.pieces.get()) return p;
  forget_run(w, part);
  return w.pieces.get();
}

bool shares_while_nothing_is(bag_kind kind) noexcept {
  return kind == bag_kind::naive_lazy || kind == bag_kind::lazy_splitter;
}

void put_on_offer(worker& w, bag_share& part, piece& p, bag_chunk& chunk) noexcept {
  chunk.whole = &part.whole;
  chunk.sharer = &w;
  p.chunk.store(&chunk);
  piece_pool::set_up(p, &run_stolen_chunk, part.number, &part.whole);
  link_newest(part, p);
  w.pieces.offer(p, {}, w.new_id());
  if (shares_while_nothing_is(part.whole.kind)) {
    const seen_piece seen = piece_pool::on_offer(p);  // unless it has been taken already
    part.shown = seen.p;
    part.shown_word = seen.word;
  }
  w.count(&counters::transactions);
}

/// Is any chunk of the part on offer?
bool shows_some(worker& w, bag_share& part) noexcept {
  while (part.newest != nullptr) {
    if (piece_pool::on_offer(*part.newest)) return true;
    set_aside(w, part, *part.newest);
  }
  return false;
}

}  // namespace

bool can_give(const worker& w, const bag_share& part) noexcept {
  return part.size() > (&part == w.loops.polled ? 1U : 0U);
}

bool give_half(worker& w, bag_share& part, std::uint64_t parts) noexcept {
  // Between two items the owner keeps the larger half, else it has the item that it is in.
  std::size_t left = &part == w.loops.polled ? part.size() / 2 : (part.size() + 1) / 2;
  bool gave = false;
  for (parts = std::min<std::uint64_t>(parts, left); parts != 0; --parts) {
    const std::size_t count = left / parts;
    if (!share(w, part, count)) break;
    left -= count;
    gave = true;
  }
  if (gave) w.count(&counters::splits);
  return gave;
}

bool share_unasked(worker& w, bag_share& part) noexcept {
  const std::size_t chunk = part.whole.chunk;
  bool shared = false;
  switch (part.whole.kind) {
    case bag_kind::eager_chunker:
    case bag_kind::steal_half:
      while (part.size() >= part.share_at && share(w, part, chunk)) shared = true;
      break;
    case bag_kind::naive_lazy:
      shared = part.size() >= part.share_at && !shows_some(w, part) && share(w, part, chunk);
      break;
    case bag_kind::lazy_splitter:
      shared = part.size() >= part.share_at && !shows_some(w, part) && share(w, part, part.size() / 2);
      break;
    default:
      break;
  }
  if (shared) w.count(&counters::offers);
  return shared;
}

bool share(worker& w, bag_share& part, std::size_t count) noexcept {
  piece* const p = get_piece(w, part);
  if (p == nullptr) return false;
  bag_chunk* const chunk = part.cut(count);
  if (chunk == nullptr) {
    w.pieces.put(*p);
    return false;
  }
  if (part.whole.counts != nullptr) part.whole.counts->count_made(w);
  put_on_offer(w, part, *p, *chunk);
  return true;
}

bag_chunk* take_back_newest(worker& w, bag_share& part) noexcept {
  while (part.newest != nullptr) {
    piece& p = *part.newest;
    const seen_piece seen = piece_pool::on_offer(p);
    if (!seen || !w.pieces.take_back(seen)) {
      set_aside(w, part, p);
      continue;
    }
    unlink(part, p);
    ++part.ended;
    bag_chunk* const chunk = p.chunk.load();
    w.pieces.put(p);
    w.count(&counters::transactions);
    return chunk;
  }
  return nullptr;
}

void steal_further(worker& w, bag_share& part, worker& victim, std::uint64_t number) noexcept {
  std::vector<seen_piece> others;
  try {
    others = victim.pieces.all_of(number);
  } catch (const std::bad_alloc&) {
    return;  // one chunk is correct as well
  }
  bool shared = false;
  others.resize(others.size() / 2);
  for (const seen_piece seen : others) {
    piece* const p = get_piece(w, part);
    if (p == nullptr) break;
    if (!piece_pool::take(seen, w.taken_in_passing())) {
      w.pieces.put(*p);
      continue;
    }
    w.count(&counters::transactions);
    bag_chunk& chunk = *seen.p->chunk.load();
    // Its items are this part's, and all parts end before the bag does.
    worker::finish(*seen.p, victim, run_result::done);
    put_on_offer(w, part, *p, chunk);
    shared = true;
  }
  if (!shared) return;
  w.count(&counters::offers);
  w.common.sleepers.offered(w);
}

void adopt_chunk(worker& w, bag_share& part, piece& taken, worker& victim) noexcept {
  // relaxed: the piece is taken, by this worker.
  const std::uint64_t number = taken.number.load(std::memory_order_relaxed);
  part.adopt(*taken.chunk.load());
  ++part.ended;
  worker::finish(taken, victim, run_result::done);
  if (part.whole.kind == bag_kind::steal_half) steal_further(w, part, victim, number);
}

}  // namespace filch::detail
