// How a loop is split among workers: the ways of the lazy-scheduling paper (Tzannes and others 2014, sections 2, 3, 6)
// and filch's own, each a small type that is given to a loop or named for a whole scheduler (options::loop).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace filch {

enum class loop_kind : std::uint8_t {
  inherited,     ///< the scheduler's choice
  standard,      ///< half of the oldest loop is cut off when, and only when, somebody asks for work
  work_first,    ///< one descriptor for all that is left; whoever takes it runs one chunk and passes it on
  help_first,    ///< one task for each chunk, all made before the first runs
  simple,        ///< halved down to the grain at once (eager binary splitting)
  automatic,     ///< halved into 4 P chunks; a stolen one into at least 4 more (oneTBB's auto partitioner)
  lazy_depth,    ///< half of the innermost loop is offered whenever nothing is (DF-LS)
  lazy_depth2,   ///< the same whenever fewer than two pieces are (DF2-LS)
  lazy_breadth,  ///< half of the oldest loop is offered whenever nothing is (BF-LS)
  fixed,   ///< P equal parts, made at once; of a loop that is not inside of another construct, part t is worker t's
  dynamic  ///< chunks of the grain, handed out one after the other
};

/// How one loop is split.
struct splitting {
  loop_kind kind = loop_kind::inherited;
  /// Least number of iterations in a chunk (the paper's ppt or, where splitting is eager, sst). 0: the way's own
  /// choice, which needs no tuning where splitting is lazy; for work_first, help_first, simple and dynamic it is 1.
  std::size_t grain = 0;
};

/// How much work the iterations of a loop do: a hint, which policy `adws` divides the workers by. Entry i is the work of
/// all iterations before the i-th, in any unit; so there is one more than iterations, and none is less than the one before
/// it. Of a range of two dimensions, "iterations" are its rows, of three its pages. The list has to exist as long as the
/// loop runs.
struct weights {
  explicit weights(std::span<const double> of_all_before) noexcept : sums(of_all_before) {}
  std::span<const double> sums;
};

/// The ways to split, to be given to a loop: `parallel_for(0, n, body, loop::lazy_breadth{.grain = 16})`.
namespace loop {

template <loop_kind Kind>
struct way {
  std::size_t grain = 0;  ///< see splitting
  // NOLINTNEXTLINE(google-explicit-constructor): a way is a splitting whose kind is known.
  constexpr operator splitting() const noexcept { return {Kind, grain}; }
};

using standard = way<loop_kind::standard>;
using work_first = way<loop_kind::work_first>;
using help_first = way<loop_kind::help_first>;
using simple = way<loop_kind::simple>;
using automatic = way<loop_kind::automatic>;
using lazy_depth = way<loop_kind::lazy_depth>;
using lazy_depth2 = way<loop_kind::lazy_depth2>;
using lazy_breadth = way<loop_kind::lazy_breadth>;
using fixed = way<loop_kind::fixed>;
using dynamic = way<loop_kind::dynamic>;

}  // namespace loop

/// How a loop ended that can be stopped.
enum class loop_status : std::uint8_t {
  complete,  ///< every iteration ran
  stopped    ///< a stop was requested; iterations that had not begun may have been skipped
};

}  // namespace filch
