// Ways of splitting that do not wait to be asked: work-first, help-first, simple, auto (lazy-scheduling paper, section
// 2), static and dynamic.
#pragma once

#include "worker/worker.hpp"

namespace filch::detail {

/// The parameters K and V of the auto partitioner.
inline constexpr std::uint32_t automatic_chunks_per_worker = 4;
inline constexpr std::uint32_t automatic_chunks_if_stolen = 4;

/// Owner, about to run the share's interval: puts on offer what the way of splitting wants. Whether it did.
bool begin_eagerly(worker& w, loop_share& f, part_origin origin) noexcept;

/// Owner, taking back a piece [start, high): where the part begins that stays on offer. `high` if none does.
[[nodiscard]] piece_start rest_of_piece(const loop_state& whole, piece_start start, std::uint64_t high) noexcept;

/// Kind `dynamic`: the next chunk that nobody has becomes the share's interval. False: there is none.
[[nodiscard]] bool next_handed_out(loop_share& f) noexcept;

}  // namespace filch::detail
