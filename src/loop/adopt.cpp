#include "loop/adopt.hpp"

#include <filch/detail/bag_share.hpp>

#include "loop/share_bag.hpp"
#include "worker/loop_share.hpp"

namespace filch::detail {
namespace {

const void* whole_of(const work_share& f) noexcept {
  if (f.is_bag) return &static_cast<const bag_share&>(f).whole;
  return static_cast<const loop_share&>(f).whole;
}

}  // namespace

bool is_part_of_same(const piece& p, const work_share& f) noexcept {
  // [PP13] relaxed: should the record be used again by now, taking it fails.
  return p.whole.load(std::memory_order_relaxed) == whole_of(f);
}

bool adopt(worker& w, seen_piece seen, worker& owner, work_share& into) noexcept {
  // There is no activation with that number, so nobody looks for anything here.
  if (!piece_pool::take(seen, w.taken_in_passing())) return false;
  if (into.is_bag) {
    adopt_chunk(w, static_cast<bag_share&>(into), *seen.p, owner);
    return true;
  }
  auto& loop = static_cast<loop_share&>(into);
  const piece_start start = seen.start();
  loop.next.store(start.low);
  loop.last.store(seen.p->high.load());
  loop.chunks = start.chunks;
  loop.begin_unseen();  // of iterations elsewhere in the loop
  worker::finish(*seen.p, owner, run_result::done);
  return true;
}

}  // namespace filch::detail
