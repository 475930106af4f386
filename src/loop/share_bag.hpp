// Sharing a bag: which of a worker's private items others may take, and when (lazy-scheduling paper, section 8; see
// filch/bag.hpp for the ways).
//
// What is shared is a list of pieces, the newest first, each with one chunk. Thieves take the oldest of a worker, and
// the owner takes back the newest, so both ends of the list run ahead of what is known of it: pieces that turn out to
// be taken move to a list of their own.
//
// The calls are the owner's.
#pragma once

#include <cstddef>
#include <cstdint>

#include <filch/detail/bag_share.hpp>

#include "worker/worker.hpp"

namespace filch::detail {

/// Has the part private items to give? Between two items its owner is about to process the next one itself.
[[nodiscard]] bool can_give(const worker& w, const bag_share& part) noexcept;

/// Somebody asks: shares half of the private items, as up to `parts` chunks. False: nothing to give, or no memory.
bool give_half(worker& w, bag_share& part, std::uint64_t parts) noexcept;

/// Shares as much as the part's way wants, asked or not. Whether it did.
bool share_unasked(worker& w, bag_share& part) noexcept;

/// Shares the oldest `count` private items as one chunk. False: no memory.
bool share(worker& w, bag_share& part, std::size_t count) noexcept;

/// Takes back the newest chunk that is on offer. Null: none is.
[[nodiscard]] bag_chunk* take_back_newest(worker& w, bag_share& part) noexcept;

/// Thieves take half of the chunks, and the part has got one of the victim's part with that number: takes further ones
/// from there, half of all with it, and shares those.
void steal_further(worker& w, bag_share& part, worker& victim, std::uint64_t number) noexcept;

/// The part has no work and waits for its pieces. Gives it the chunk of a piece of the victim's, which this worker has
/// just taken, and says that the piece is done.
void adopt_chunk(worker& w, bag_share& part, piece& taken, worker& victim) noexcept;

}  // namespace filch::detail
