// How the end of an adaptive call is found by counting instead of joins (docs/protocols/bags.md, "Ending by counting").
//
// Each worker counts the tasks of the call that it has made, by splitting, and those that have ended with it. Both
// counts only grow. The caller alone compares the sums.
#pragma once

#include <cstdint>
#include <memory>

#include <filch/config.hpp>
#include <filch/detail/worker_core.hpp>
#include <filch/platform/memory.hpp>

namespace filch::detail {

class FILCH_API task_counts {
 public:
  /// Of a call with one task so far. Caller only. @throws std::bad_alloc.
  explicit task_counts(worker_core& caller);

  /// Any worker, before what it has split off becomes visible.
  void count_made(const worker_core& by) noexcept;
  /// Any worker: so many tasks have ended with it. The last touch of the call, which may be over now: wakes the caller
  /// when it sleeps.
  void count_ended(const worker_core& by, std::uint64_t tasks) noexcept;
  /// Caller. Then all that the tasks did is seen.
  [[nodiscard]] bool all_ended() const noexcept;

  /// Any worker is in that activation of this call from now on; 0: in none. Returns in which it was before.
  std::uint64_t enter(const worker_core& by, std::uint64_t activation) noexcept;
  /// Caller. Calls visit(worker's number, activation) for the activations of this call, as far as is known, until it
  /// returns true. Whether it did.
  template <class Visit>
  bool any_active(Visit&& visit) const {
    for (std::uint32_t i = 0; i + 1 < size_; ++i) {
      const std::uint64_t activation = places_[i].activation.load(std::memory_order_relaxed);  // [CT4]
      if (activation != 0 && visit(i, activation)) return true;
    }
    return false;
  }

  worker_core& caller;

 private:
  struct alignas(64) place {
    platform::atomic<std::uint64_t> made{0};
    platform::atomic<std::uint64_t> ended{0};
    platform::atomic<std::uint64_t> activation{0};
  };

  /// Workers that came after the call began share the last place.
  [[nodiscard]] place& place_of(const worker_core& w) const noexcept;

  std::uint32_t size_;
  std::unique_ptr<place[]> places_;
};

}  // namespace filch::detail
