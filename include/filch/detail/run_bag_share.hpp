// How a worker runs its part of a bag, of items as of tasks that can be split. Inlined into the caller as far as it
// concerns the body.
#pragma once

#include <filch/detail/bag_share.hpp>
#include <filch/detail/chunk_tuner.hpp>
#include <filch/detail/worker_core.hpp>
#include <filch/loop.hpp>
#include <filch/platform/memory.hpp>

namespace filch::detail {

/// Runs the part until nothing of it is left. next() processes an item, or does a step of the task.
template <class Part, class Next>
[[gnu::always_inline]] inline void run_bag_share(Part& part, piece* stolen, const Next& next) noexcept {
  worker_core& w = part.w;
  // What the bag is in contains loops; what the bag contains is not the business of a chunk of iterations.
  chunk_tuner tuner;
  const inside_chunk here(w, tuner);
  platform::signal_fence();
  w.loops.innermost.store(&part);
  detail::begin_bag(part, stolen);
  try {
    do {
      while (part.has_work()) {
        next();
        if (part.must_look(part.size())) [[unlikely]]
          detail::attend_bag(part, true);
      }
    } while ((part.newest != nullptr || part.taken != nullptr) && detail::continue_bag(part));
  } catch (...) {
    detail::fail_bag(part);
  }
  w.loops.innermost.store(part.outer);
  if (part.whole.counts != nullptr) detail::count_part(part);
}

/// How a bag ended that is over. Throws its exception, if there is one.
inline loop_status outcome_of(bag_state& whole) {
  if (whole.ended.load(std::memory_order_relaxed)) [[unlikely]]  // [BW1]
    rethrow_from(whole);
  return whole.stop != nullptr && whole.stop->stop_requested() ? loop_status::stopped : loop_status::complete;
}

}  // namespace filch::detail
