#include "loop/adopt.hpp"

#include <filch/detail/bag_part.hpp>

#include "loop/share_bag.hpp"

namespace filch {
namespace {

const void* whole_of(const detail::loop_frame& f) noexcept {
  return f.bag != nullptr ? static_cast<const void*>(&f.bag->whole) : f.whole;
}

}  // namespace

bool is_part_of_same(const piece& p, const detail::loop_frame& f) noexcept {
  // [PP13] relaxed: should the record be used again by now, taking it fails.
  return p.whole.load(std::memory_order_relaxed) == whole_of(f);
}

bool adopt(worker& w, seen_piece seen, worker& owner, detail::loop_frame& into) noexcept {
  // There is no activation with that number, so nobody looks for anything here.
  if (!piece_pool::take(seen, w.taken_in_passing())) return false;
  if (into.bag != nullptr) {
    adopt_chunk(w, *into.bag, *seen.p, owner);
    return true;
  }
  const piece_start start = seen.start();
  into.next.store(start.low);
  into.last.store(seen.p->high.load());
  into.chunks = start.chunks;
  worker::finish(*seen.p, owner, detail::run_result::done);
  return true;
}

}  // namespace filch
