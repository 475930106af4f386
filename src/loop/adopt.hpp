// A worker that waits for a piece of a loop or bag takes over another piece of the same one, instead of running that on
// top of its wait (docs/protocols/loops.md, "Adopting"). So the C++ stack does not grow with the number of pieces that
// workers take from each other in turn.
#pragma once

#include <filch/detail/work_share.hpp>

#include "worker/worker.hpp"

namespace filch::detail {

/// Is the piece, as it was seen, a part of the same loop or bag as the share?
[[nodiscard]] bool is_part_of_same(const piece& p, const work_share& f) noexcept;

/// Owner of the share `into`, which has no work and waits for its pieces. Takes a piece of the same loop or bag, makes
/// what it consists of the share's work, and says that the piece is done: `owner`, who cut it off, has nothing more to
/// do with it. False: somebody else was faster.
bool adopt(worker& w, seen_piece seen, worker& owner, work_share& into) noexcept;

}  // namespace filch::detail
