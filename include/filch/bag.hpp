// How workers share a bag of work: the four chunk schedulers of the lazy-scheduling paper (Tzannes and others 2014,
// section 8) and filch's own way, each a small type that is given to for_each_dynamic or work_bag::process.
//
// Every worker that processes a bag has a private segment of it, the newest items, and a shared segment, which thieves
// take from, the oldest ones. The ways differ in when items become shared, and how many of them are taken at once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace filch {

enum class bag_kind : std::uint8_t {
  inherited,      ///< standard, or lazy_splitter where the scheduler's policy has owners whom nobody can ask for work
  standard,       ///< half of the private items become shared when, and only when, somebody asks for work
  eager_chunker,  ///< a chunk becomes shared whenever two are private; thieves take a chunk (Olivier and others 2006)
  naive_lazy,     ///< the same, but only while nothing is shared
  steal_half,     ///< as eager_chunker; thieves take half of the chunks, and share all but one of them again
  lazy_splitter   ///< half of the private items become shared while nothing is; thieves take all that is shared
};

/// How a bag is shared.
struct sharing {
  bag_kind kind = bag_kind::inherited;
  /// Items in a chunk, at least 1. The standard way has no chunks.
  std::size_t chunk = 1;
};

/// The ways to share a bag: `for_each_dynamic(first, last, body, bag::steal_half{.chunk = 8})`.
namespace bag {

template <bag_kind Kind>
struct way {
  std::size_t chunk = 1;  ///< see sharing
  // NOLINTNEXTLINE(google-explicit-constructor): a way is a sharing whose kind is known.
  constexpr operator sharing() const noexcept { return {Kind, chunk}; }
};

struct standard {
  // NOLINTNEXTLINE(google-explicit-constructor): as above.
  constexpr operator sharing() const noexcept { return {bag_kind::standard, 1}; }
};
using eager_chunker = way<bag_kind::eager_chunker>;
using naive_lazy = way<bag_kind::naive_lazy>;
using steal_half = way<bag_kind::steal_half>;
using lazy_splitter = way<bag_kind::lazy_splitter>;

}  // namespace bag
}  // namespace filch
