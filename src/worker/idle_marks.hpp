// Which workers have no work, and whether they search or sleep: a word for each of them.
//
// One count for all would be a word that everybody writes who begins or ends a search: with 64 workers and tasks of some
// microseconds it took more than a third of their time. So each worker writes its own, and whoever has to know, which is
// rarely anybody, looks at all. Eight share a cache line, so that this is few lines.
//
// Thread safety: a worker's mark is written by that worker, and by whoever has claimed it while it sleeps; any thread may
// look.
#pragma once

#include <cstdint>

#include <filch/platform/memory.hpp>

#include "platform/mapping.hpp"

namespace filch::detail {

enum class idle_mark : std::uint64_t {
  none,       ///< it runs tasks
  searching,  ///< it looks for work
  sent,       ///< the same, first where its waker has seen some
  asleep      ///< it sleeps, or is about to
};

[[nodiscard]] constexpr bool is_search(idle_mark m) noexcept {
  return m == idle_mark::searching || m == idle_mark::sent;
}

class idle_marks {
 public:
  idle_marks();
  idle_marks(const idle_marks&) = delete;
  idle_marks& operator=(const idle_marks&) = delete;

  [[nodiscard]] platform::atomic<idle_mark>& operator[](std::uint32_t worker) noexcept { return marks_[worker]; }

  /// How many of the first `workers` have such a mark, up to `most`: then it stops. Looks at worker `from` first, and at
  /// its neighbours, by sequentially consistent loads.
  template <class Counts>
  [[nodiscard]] std::uint32_t count(std::uint32_t workers, std::uint32_t most, std::uint32_t from,
                                    Counts counts) const noexcept {
    std::uint32_t found = 0;
    for (std::uint32_t i = 0; i < workers && found < most; ++i) {
      // [SL1] seq_cst: after the offer in the one total order; pairs with [SL3].
      if (counts(marks_[(from + i) % workers].load(std::memory_order_seq_cst))) ++found;
    }
    return found;
  }
  /// About how many of the first `workers`, one at least, search: as if all were as the eight around `near` are. More
  /// of them were looked at before; what that cost was worth more than what it told.
  [[nodiscard]] std::uint32_t estimate(std::uint32_t workers, std::uint32_t near) const noexcept;

 private:
  static constexpr std::uint32_t of_a_line = 8;

  platform::mapping memory_;  ///< zeroed: nobody is idle
  platform::atomic<idle_mark>* marks_;
};

}  // namespace filch::detail
