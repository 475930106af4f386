// Cutting a loop in two: which of a worker's loops gives, and how much of it (lazy-scheduling paper, sections 3.3 and
// 6.1; Algorithm 3).
//
// The worker's open shares, linked from the innermost to the outermost, are the paper's private deque of postponed task
// descriptors; its pool of pieces is the shared one.
#pragma once

#include <cstdint>

#include "worker/worker.hpp"

namespace filch::detail {

/// Which loop gives: the one that the paper's depth-first or its breadth-first variant would push.
enum class giving_order : std::uint8_t { innermost, oldest };

/// Owner. The share that would give in this order, of those with numbers above `above`; null when none has anything to
/// give.
[[nodiscard]] work_share* giver(const worker& w, giving_order order, std::uint64_t above = 0) noexcept;

/// Owner. Puts the upper half of what the share has left on offer, or all of it when that is too little for two and the
/// share is waiting for one of its iterations. False: nothing to give, or no room.
bool give_half(worker& w, work_share& share) noexcept;

/// Owner. The same for so many workers without work: who takes a half has half of those to serve. So the owner puts
/// half of what is left then on offer as well, for half of them, and so on; and keeps about as much as each of them
/// will have. Pieces given.
unsigned give_halves(worker& w, work_share& share, std::uint32_t hungry) noexcept;

/// Owner. Puts the upper `size` iterations on offer as one piece, rounded down to whole grains. False: no room, or
/// nothing is left of the size.
bool give(worker& w, loop_share& f, std::uint64_t size, std::uint32_t chunks) noexcept;

/// The place nearest above `at` where a piece of [low, high) may begin: a multiple of the grain away from low.
[[nodiscard]] inline std::uint64_t whole_grains(std::uint64_t low, std::uint64_t at, std::uint64_t grain) noexcept {
  const std::uint64_t odd = (at - low) % grain;
  return odd == 0 ? at : at + (grain - odd);
}

/// What a thief runs.
run_result run_stolen_piece(task& t, run_by who);

}  // namespace filch::detail
