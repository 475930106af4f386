// What the body of a bag's processing adds further items to.
#pragma once

#include <utility>

#include <filch/detail/item_share.hpp>

namespace filch {

/// Adds items to the bag that is being processed.
///
/// @par Thread safety belongs to one call of the body, and to the thread that called it: to be used by that thread
///      until the body returns. Tasks and loops that the body starts give what they find to the body.
template <class Item>
class feeder {
 public:
  explicit feeder(detail::item_share<Item>& part) noexcept : part_(part) {}
  feeder(const feeder&) = delete;
  feeder& operator=(const feeder&) = delete;

  /// Adds an item.
  /// @throws std::bad_alloc; then nothing was added.
  /// @par Complexity O(1) amortised; no atomic read-modify-write unless items become shared.
  void push(const Item& item) { part_.add(item); }
  void push(Item&& item) { part_.add(std::move(item)); }
  /// Adds an item that is made of the arguments.
  template <class... Args>
  void emplace(Args&&... args) {
    part_.add(std::forward<Args>(args)...);
  }

 private:
  detail::item_share<Item>& part_;
};

}  // namespace filch
