// Cutting a loop in two: which of a worker's loops gives, and how much of it (lazy-scheduling paper, sections 3.3 and
// 6.1; Algorithm 3).
//
// The worker's open frames, linked from the innermost to the outermost, are the paper's private deque of postponed task
// descriptors; its pool of pieces is the shared one.
#pragma once

#include <cstdint>

#include "worker/worker.hpp"

namespace filch {

/// Which loop gives: the one that the paper's depth-first or its breadth-first variant would push.
enum class giving_order : std::uint8_t { innermost, oldest };

/// Owner. The frame that would give in this order; null when none has anything to give.
[[nodiscard]] detail::loop_frame* giver(const worker& w, giving_order order) noexcept;

/// Owner. Puts the upper half of what the frame has left on offer, or all of it when that is too little for two and the
/// frame is waiting for one of its iterations; as up to `parts` pieces. False: nothing to give, or no room.
bool give_half(worker& w, detail::loop_frame& f, std::uint64_t parts) noexcept;

/// Owner. Puts [from, f.last) on offer as one piece. False: no room.
bool give(worker& w, detail::loop_frame& f, std::uint64_t from, std::uint32_t chunks) noexcept;

/// What a thief runs.
detail::run_result run_stolen_piece(detail::task& t, detail::run_by who);

}  // namespace filch
