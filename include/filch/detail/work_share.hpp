// A worker's share of a loop or of a bag: what the scheduler has to know of either. It is in the frame of the function
// that runs the share.
//
// Invariants
//  1. Shares of a worker nest as calls do. Numbers grow from the outside in, also across activations: a share with a
//     number above an activation's was made inside of it, as long as that activation lasts.
#pragma once

#include <cstdint>

#include <filch/detail/worker_core.hpp>

namespace filch::detail {

struct piece;

struct work_share {
  /// Owner. The innermost one from the moment when it is in the worker's list.
  work_share(worker_core& w, bool of_bag, bool on_request) noexcept
      : outer(w.loops.innermost.load()),
        outer_giver(outer),
        outer_bag(bag_from(outer)),
        number(next_number(w)),
        head(w.head.load()),
        gives(on_request),
        is_bag(of_bag) {}
  work_share(const work_share&) = delete;
  work_share& operator=(const work_share&) = delete;

  /// That one, or else the nearest outer one of a bag; null: none.
  [[nodiscard]] static work_share* bag_from(work_share* f) noexcept {
    return f == nullptr || f->is_bag ? f : f->outer_bag;
  }

  work_share* outer;
  /// The nearest outer one that may have something to give. Those in between have given, or begun, all that they had: as long as
  /// this one lasts they get nothing new.
  work_share* outer_giver;
  work_share* outer_bag;  ///< the nearest outer one of a bag
  std::uint64_t number;
  slot* head;               ///< of the task stack when it began: which tasks are older
  piece* newest = nullptr;  ///< of its pieces that may be on offer
  bool gives;               ///< others may ask for a part of it
  bool is_bag;              ///< a bag_share; else a loop_share

 protected:
  ~work_share() = default;
};

}  // namespace filch::detail
