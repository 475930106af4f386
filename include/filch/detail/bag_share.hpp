// Bags in progress as the scheduler sees them (docs/protocols/bags.md).
//
// A bag is one `bag_state`, in the frame of the function that processes it, and one `bag_share` for each worker that
// has items of it. A part is the worker's private segment, and a list of the chunks that it has shared: each a piece on
// offer, like one of a loop. Who takes a chunk begins a part of his own.
//
// A task that can be split (filch/adaptive.hpp) is such a bag too: the private segment is the task, a chunk is what it
// was split into. What is said of items here holds for its units of work.
//
// Invariants
//  1. Private items are the owner's; they are shared by the owner only, between its own instructions, the oldest first.
//  2. A chunk belongs to the worker who shared it until somebody else takes its piece, and to that one from then on.
//  3. A part ends when it has no private items and each of its pieces was taken back, was adopted by another part, or
//     has run. So a bag ends when all of its items have been processed, and nobody has to count them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <stop_token>

#include <filch/bag.hpp>
#include <filch/config.hpp>
#include <filch/detail/work_share.hpp>
#include <filch/detail/worker_core.hpp>
#include <filch/platform/memory.hpp>

namespace filch::detail {

struct bag_state;
class task_counts;

/// Items that are shared, taken and taken back together. On the heap.
struct bag_chunk {
  bag_chunk() = default;
  virtual ~bag_chunk() = default;
  bag_chunk(const bag_chunk&) = delete;
  bag_chunk& operator=(const bag_chunk&) = delete;

  bag_state* whole = nullptr;
  worker_core* sharer = nullptr;
  bag_chunk* next = nullptr;  ///< of those without items that a part keeps
};

struct bag_state {
  const void* body;
  /// Makes a stolen chunk a part of the calling worker's, and runs that.
  void (*run_stolen)(worker_core&, bag_chunk&, piece& stolen) noexcept;
  bag_kind kind;  ///< not `inherited`
  std::size_t chunk;
  const std::stop_token* stop;
  task_counts* counts = nullptr;  ///< of a call whose parts do not wait for one another
  /// The rest is dropped: somebody threw, or a stop was requested. [BW1] relaxed: a hint to end early; the exception is
  /// handed over under a lock, and by the joins of the pieces.
  platform::atomic<bool> ended{false};
  // Under one of the scheduler's locks (striped_mutex):
  std::exception_ptr error{};
};

/// What of a part does not depend on the type of its items.
class FILCH_API bag_share : public work_share {
 public:
  bag_share(worker_core& owner, bag_state& of) noexcept;

  /// Is there anything private to be processed?
  [[nodiscard]] virtual bool has_work() const noexcept = 0;
  /// Private items.
  [[nodiscard]] virtual std::size_t size() const noexcept = 0;
  /// Makes the oldest `count` private items a chunk. Null when there is no memory for one, or a task does not split.
  [[nodiscard]] virtual bag_chunk* cut(std::size_t count) noexcept = 0;
  /// Makes the items of a chunk private, where no others are.
  virtual void put_back(bag_chunk& chunk) noexcept = 0;
  /// The same for a chunk of another part. Of emptied chunks keeps that one alone: else a part that lives on what
  /// others have shared would keep all of them.
  virtual void adopt(bag_chunk& chunk) noexcept = 0;
  /// Destroys all private items.
  virtual void drop() noexcept = 0;

  /// Does anybody want something, or are some of the `has` private items to be shared unasked?
  [[nodiscard]] bool must_share(std::size_t has) const noexcept {
    return w.attention.load(std::memory_order_relaxed) == nullptr ||  // [AT1]
                                                                      // [PP7] relaxed: the owner's own piece.
           (has >= share_at && (shown == nullptr || shown->state.load(std::memory_order_relaxed) != shown_word));
  }
  /// The same between two items, when the bag may have ended as well.
  [[nodiscard]] bool must_look(std::size_t has) const noexcept {
    return must_share(has) || whole.stop != nullptr || whole.ended.load(std::memory_order_relaxed);  // [BW1]
  }

  worker_core& w;
  bag_state& whole;
  piece* oldest = nullptr;  ///< of the list that begins with `newest`
  piece* taken = nullptr;   ///< pieces that others run, or have run
  std::uint32_t taken_count = 0;
  std::uint32_t tidy_at = 64;  ///< so many in that list are too many to keep those that have run
  std::size_t share_at;        ///< with so many private items some may have to be shared
  /// Ways that share while nothing is: the piece that was on offer last, and the word that its state has as long as it
  /// is. (No other piece of this worker ever has that word.)
  const task* shown = nullptr;
  std::uint64_t shown_word = 0;
  // Where tasks are counted:
  /// Tasks that end with this part: its first, those that it took back, and those that it adopted.
  std::uint64_t ended = 1;
  std::uint64_t outer_activation = 0;  ///< of the same call on this worker, around this one

 protected:
  ~bag_share() = default;
};

/// Which way a bag is shared on that worker: `how`, or what it inherits. Throws std::invalid_argument if it does not go
/// with the scheduler's policy, or has no chunk size.
FILCH_API [[nodiscard]] sharing resolve(const worker_core& w, sharing how);

/// Begins a part, whose first items are private: takes more from whom they were stolen, and shares, as its way wants.
FILCH_API [[gnu::noinline]] void begin_bag(bag_share& part, piece* stolen) noexcept;

/// Answers whoever asks for work, and shares as the part's way wants; between two items, or inside of one that has just
/// added to the bag. Between two also sees whether the bag ends early.
FILCH_API [[gnu::noinline]] void attend_bag(bag_share& part, bool between) noexcept;

/// No private item is left: takes back a chunk; or waits for those that others have. False: nothing is left.
FILCH_API [[gnu::noinline]] bool continue_bag(bag_share& part) noexcept;

/// Notes the exception in flight, the bag's first or not, and ends the bag.
FILCH_API [[gnu::cold, gnu::noinline]] void note_failure(bag_share& part) noexcept;

/// The same, and drops what is left of the part.
FILCH_API [[gnu::cold, gnu::noinline]] void fail_bag(bag_share& part) noexcept;

/// The part of a call whose tasks are counted is over, and out of the worker's list. The last touch of the call, unless
/// by its caller.
FILCH_API [[gnu::noinline]] void count_part(bag_share& part) noexcept;

/// Caller. Waits until no task of the call is left.
FILCH_API [[gnu::noinline]] void wait_for_counts(task_counts& counts) noexcept;

/// The bag ended early: throws its exception, if that is why.
FILCH_API [[gnu::cold, gnu::noinline]] void rethrow_from(bag_state& whole);

}  // namespace filch::detail
