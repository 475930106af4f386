// The pieces of loops and the chunks of bags that a worker has cut off: on offer, or run by somebody else
// (docs/protocols/loops.md, bags.md).
//
// A piece is a task whose state word is the whole protocol. On offer, the word carries a version that no piece of this
// worker had before; a thief takes the piece, and the owner takes it back or shortens it, by one compare-and-swap of
// that word. So a thief that looks at a record which has meanwhile been used again can only fail. Records are never
// given back to the system while the worker lives, which is what lets anybody look.
//
// Invariants
//  1. What a piece consists of is written by the owner before it is on offer, and read by whoever took it. Its low end
//     is kept twice, and the version's last bit tells which one holds: shortening writes the other and then changes the
//     version, so that a thief sees the one or the other and never a mixture.
//  2. `offered` of a page is a superset of its pieces on offer, `used` a superset of those that are taken.
//  3. Only the owner writes `offered`, `used`, and the number of pages.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <filch/detail/task.hpp>
#include <filch/platform/memory.hpp>

#include "platform/mapping.hpp"
#include "worker/loop_share.hpp"
#include "worker/task_state.hpp"

namespace filch::detail {
struct bag_chunk;
struct given_task;

/// The part of a piece that changes when it is shortened.
struct piece_start {
  std::uint64_t low;
  std::uint32_t chunks;
};

struct alignas(64) piece : task {
  platform::atomic<std::uint64_t> number;  ///< of the share it was cut from
  platform::atomic<void*> whole;           ///< the loop_state or bag_state that it is a part of
  platform::shared<std::uint64_t> high;
  platform::shared<piece_start> starts[2];
  platform::shared<piece_start> taken;  ///< the thief's: the start that holds
  platform::shared<bag_chunk*> chunk;   ///< a bag's piece: what it consists of, instead of the four above
  platform::shared<given_task*> given;  ///< a given task: what it consists of, instead of all but the number
  // Owner only.
  piece* older;  ///< of the same share
  piece* newer;  ///< a bag's piece
  std::uint32_t index;
};

/// A piece that was seen on offer, and the word its state had.
struct seen_piece {
  piece* p = nullptr;
  std::uint64_t word = 0;
  explicit operator bool() const noexcept { return p != nullptr; }
  /// For who has taken it, or owns it.
  [[nodiscard]] piece_start start() const noexcept { return p->starts[task_state::unpack(word).id & 1].load(); }
};

class piece_pool {
  struct page;

 public:
  piece_pool();

  // Owner.

  /// A record that is not in use; null when there are no more.
  [[nodiscard]] piece* get() noexcept;
  /// Says what the record will be: a piece of that share and loop or bag, and what its thief runs.
  static void set_up(piece& p, task_function run, std::uint64_t share_number, void* whole) noexcept;
  /// Gives back a record whose piece was taken back, or has run.
  void put(piece& p) noexcept;
  /// Makes a piece visible, whose parts are set but for the start. `version`: larger than any before.
  void offer(piece& p, piece_start start, std::uint64_t version) noexcept;
  /// A piece that has been taken need not be looked at by thieves.
  void conceal(const piece& p) noexcept;
  /// Has the piece run? Then what it did is seen.
  [[nodiscard]] static bool has_run(const piece& p) noexcept;
  /// The piece's word if it is on offer; else nothing.
  [[nodiscard]] static seen_piece on_offer(piece& p) noexcept;
  /// Takes back a piece. False: a thief was faster.
  [[nodiscard]] bool take_back(seen_piece seen) noexcept;
  /// Takes back the lower part of a piece, up to the new start. One transaction. False: a thief was faster.
  [[nodiscard]] static bool shorten(seen_piece seen, piece_start to, std::uint64_t version) noexcept;
  /// Pieces on offer, counted up to a limit.
  [[nodiscard]] unsigned count_offered(unsigned limit) noexcept;

  // Any thread.

  /// The piece that has been on offer for longest, of those cut from shares with numbers above `above`. May overlook
  /// some.
  [[nodiscard]] seen_piece oldest(std::uint64_t above) const noexcept;
  /// All pieces on offer that were cut from that share, the oldest first.
  /// @throws std::bad_alloc.
  [[nodiscard]] std::vector<seen_piece> all_of(std::uint64_t share_number) const;
  /// Moves a piece that was seen on offer to that state, which says who has taken it. False: somebody else was faster.
  [[nodiscard]] static bool take(seen_piece seen, std::uint64_t taken) noexcept;
  /// Is any piece on offer, cut from a share with a number above `above`? Who looks before it sleeps is not told wrongly.
  [[nodiscard]] bool something_offered(std::uint64_t above = 0) const noexcept;
  /// Calls visit(lineage) for pieces that are being run, cut from shares with numbers above `above`, until it returns
  /// true. Looks at 1,024 records at most, from a place on that draw() gives if there are more.
  template <class Draw, class Visit>
  bool any_taken(std::uint64_t above, Draw&& draw, Visit&& visit) const {
    const std::uint32_t end = pages();
    std::uint32_t i = end > most_pages_looked_at ? static_cast<std::uint32_t>(draw() % end) : 0;
    for (std::uint32_t turns = std::min(end, most_pages_looked_at); turns != 0; --turns, i = i + 1 == end ? 0 : i + 1) {
      // [PP5] relaxed: a hint; see below.
      for (std::uint64_t left = used_of(i).load(std::memory_order_relaxed); left != 0; left &= left - 1) {
        lineage who{};
        if (is_taken(i, left, above, who) && visit(who)) return true;
      }
    }
    return false;
  }

 private:
  static constexpr std::uint32_t most_pages = 1024;
  static constexpr std::uint32_t most_pages_looked_at = 16;

  [[nodiscard]] std::uint32_t pages() const noexcept;
  [[nodiscard]] const platform::atomic<std::uint64_t>& used_of(std::uint32_t index) const noexcept;
  [[nodiscard]] bool is_taken(std::uint32_t index, std::uint64_t bits, std::uint64_t above,
                              lineage& who) const noexcept;
  template <class Visit>
  void visit_offered(std::uint32_t index, Visit&& visit) const;
  void show_from(std::uint32_t index) const noexcept;

  platform::mapping memory_;
  page* pages_;
  platform::atomic<std::uint32_t> count_{1};
  /// Any thread. A hint: no page below has pieces on offer. Thieves take the oldest, so thousands of pieces of one loop
  /// are not looked at again and again.
  mutable platform::atomic<std::uint32_t> first_offered_{0};
  std::uint32_t first_free_ = 0;  ///< no page below has a free record
};

}  // namespace filch::detail
