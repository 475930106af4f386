// How many workers have announced that they sleep: a word for each 32 of them, on a line of its own.
//
// So that many who fall asleep at the same time do not wait for one word, nor those who make offers meanwhile; and an offer
// looks at few words where nobody sleeps.
//
// Thread safety: any thread may call anything.
#pragma once

#include <cstdint>

#include <filch/platform/memory.hpp>

#include "platform/mapping.hpp"

namespace filch::detail {

class sleeper_counts {
 public:
  sleeper_counts();
  sleeper_counts(const sleeper_counts&) = delete;
  sleeper_counts& operator=(const sleeper_counts&) = delete;

  /// That worker is about to announce its sleep.
  void add(std::uint32_t worker) noexcept {
    // [SL16] seq_cst: before the last look for work, as [SL3]; pairs with [SL17].
    of(worker).fetch_add(1, std::memory_order_seq_cst);
  }
  /// It has been claimed.
  void remove(std::uint32_t worker) noexcept { of(worker).fetch_sub(1, std::memory_order_relaxed); }  // [SL0]

  /// Has any of the first `workers` announced?
  [[nodiscard]] bool any(std::uint32_t workers) const noexcept {
    for (std::uint32_t first = 0; first < workers; first += of_a_word) {
      // [SL17] seq_cst: after the offer, or the end of the own search [SL5], in the one total order; pairs with [SL16].
      if (of(first).load(std::memory_order_seq_cst) != 0) return true;
    }
    return false;
  }
  /// About how many of them have.
  [[nodiscard]] std::uint32_t about(std::uint32_t workers) const noexcept {
    std::uint32_t sum = 0;
    for (std::uint32_t first = 0; first < workers; first += of_a_word) {
      sum += of(first).load(std::memory_order_relaxed);  // [SL10] relaxed: a hint
    }
    return sum;
  }

 private:
  static constexpr std::uint32_t of_a_word = 32;
  struct alignas(64) line {
    platform::atomic<std::uint32_t> count{0};
  };

  [[nodiscard]] platform::atomic<std::uint32_t>& of(std::uint32_t worker) const noexcept {
    return lines_[worker / of_a_word].count;
  }

  platform::mapping memory_;  ///< zeroed: nobody sleeps
  line* lines_;
};

}  // namespace filch::detail
