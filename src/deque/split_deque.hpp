// The split deque of Lace (van Dijk and van de Pol 2014, Figure 4), as indices of a task array kept elsewhere:
//
//     [0, tail)      stolen          thieves advance tail
//     [tail, split)  shared          the owner moves split
//     [split, head)  private         the owner alone, who keeps head and a copy of split
//
// Where it deviates, and why. The paper keeps tail and split in one word that thieves compare-and-swap and the owner
// stores half of, with a memory fence in shrink. Here the owner's change of split is a compare-and-swap of the whole
// word as well: it is off the fast path, it needs no stand-alone fence, and it re-reads tail by failing. `all_stolen`
// is a bit of the same word instead of a flag beside it. The word also carries an epoch, which the owner changes
// whenever it has finished a task that it took from somebody: a waiter that validated what it is about to take
// (docs/protocols/wait.md) then loses its compare-and-swap if that validation has expired.
//
// Who may call what: owner only, except load and take.
//
// Invariants
//  1. Without all_stolen: tail <= split <= head. With it: nothing is shared, and every task below head is stolen.
//  2. A thief changes the word only when tail < split. So where tail >= split or all_stolen, the owner may store.
//  3. An index below split is never written again by the owner before its task was joined.
#pragma once

#include <cstdint>

#include <filch/platform/memory.hpp>

namespace filch::detail::deque {

class split_deque {
 public:
  using index = std::uint32_t;
  static constexpr unsigned index_bits = 20;
  static constexpr index max_tasks = (index{1} << index_bits) - 1;

  /// The word, taken apart.
  struct view {
    index tail;
    index split;
    std::uint32_t epoch;
    bool all_stolen;
    [[nodiscard]] bool something_shared() const noexcept { return !all_stolen && tail < split; }
    [[nodiscard]] index shared() const noexcept { return something_shared() ? split - tail : 0; }
  };

  /// What thieves see now. Any thread.
  [[nodiscard]] view load() const noexcept;

  /// Takes the `count` oldest shared tasks if the word is still as it was seen; they are [seen.tail, seen.tail +
  /// count). Any thread. False: somebody else changed the word.
  [[nodiscard]] bool take(const view& seen, index count) noexcept;

  /// Nothing was shared or left over: task `first` alone becomes the shared part.
  void share_first(index first) noexcept;

  /// Moves split up to `new_split`.
  void grow(index new_split) noexcept;

  enum class shrunk : std::uint8_t {
    reclaimed,  ///< split <= wanted now
    taken,      ///< the wanted task is stolen, newer ones are not
    all_stolen  ///< every task is stolen
  };
  /// Moves split down to (tail + split) / 2, or to `wanted` when that is lower, so that `wanted` becomes private; with
  /// `only_that` just to `wanted`. `new_split` receives the split point.
  [[nodiscard]] shrunk shrink(index wanted, index& new_split, bool only_that = false) noexcept;

  /// Every task below `head` is stolen, and nothing is shared.
  void set_all_stolen(index head) noexcept;

  /// Makes every view seen so far useless for `take`.
  void next_epoch() noexcept;

 private:
  static constexpr std::uint64_t index_mask = max_tasks;
  static constexpr unsigned epoch_shift = 2 * index_bits;
  static constexpr unsigned epoch_bits = 23;
  static constexpr std::uint32_t epoch_mask = (std::uint32_t{1} << epoch_bits) - 1;
  static constexpr std::uint64_t all_stolen_bit = std::uint64_t{1} << 63;

  static std::uint64_t pack(const view& v) noexcept;
  static view unpack(std::uint64_t word) noexcept;

  platform::atomic<std::uint64_t> word_{all_stolen_bit};
};

}  // namespace filch::detail::deque
