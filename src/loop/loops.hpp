// What the owner of a part of a loop calls now and then: docs/protocols/loops.md.
#pragma once

#include <cstdint>

#include "worker/loop_share.hpp"
#include "worker/worker.hpp"

namespace filch::detail {

/// Is the loop split on demand, by its share being cut?
constexpr bool is_lazy(loop_kind kind) noexcept {
  return kind == loop_kind::standard || kind == loop_kind::lazy_depth || kind == loop_kind::lazy_depth2 ||
         kind == loop_kind::lazy_breadth;
}

/// Before a chunk: answers whoever asks, and sees whether the loop ends early.
[[gnu::cold, gnu::noinline]] void attend_loop(worker& w, loop_share& f) noexcept;

/// Prepares a share whose loop is not split on demand: cuts off at once what its way of splitting wants.
void begin_eager(worker& w, loop_share& f, part_origin origin) noexcept;

/// The share's interval is empty: takes a piece back and makes it the interval; or waits for those that others run.
/// False: nothing is left.
bool continue_loop(worker& w, loop_share& f) noexcept;

/// Notes the exception in flight, which iteration `at` threw, or combining values up to it, and drops what is left of the
/// share. True: that is below, so the share goes on with it.
[[gnu::cold, gnu::noinline]] bool fail_loop(worker& w, loop_share& f, std::uint64_t at) noexcept;

/// The loop ended before its end: throws its exception, if that is why.
[[gnu::cold, gnu::noinline]] void rethrow_from(loop_state& whole);

}  // namespace filch::detail
