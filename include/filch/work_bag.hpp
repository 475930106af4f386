// work_bag: items to be processed in any order, which may bring further ones.
//
// Follows section 8 of the lazy-scheduling paper (Tzannes and others 2014), whose bags are the nodes of a tree that is
// searched: every worker keeps its newest items to itself, and shares its oldest ones.
#pragma once

#include <concepts>
#include <cstddef>
#include <stop_token>
#include <type_traits>
#include <utility>

#include <filch/bag.hpp>
#include <filch/detail/run_bag.hpp>
#include <filch/feeder.hpp>
#include <filch/loop.hpp>

namespace filch {

/// What may process items of a bag.
template <class Body, class Item>
concept bag_processor = std::is_invocable_v<std::remove_reference_t<Body>&, Item&, feeder<Item>&> ||
                        std::is_invocable_v<std::remove_reference_t<Body>&, Item&>;

/// A bag to be filled and then processed, as often as wanted.
///
/// @tparam Item  its move constructor must not throw. Need not be copyable, nor have a default constructor.
/// @par Thread safety one thread at a time.
template <class Item>
class work_bag {
 public:
  /// Adds an item. @throws what its constructor throws, and std::bad_alloc; then nothing was added.
  void push(const Item& item) { items_.emplace(item); }
  void push(Item&& item) { items_.emplace(std::move(item)); }
  /// Adds an item that is made of the arguments. The same exceptions.
  template <class... Args>
  void emplace(Args&&... args) {
    items_.emplace(std::forward<Args>(args)...);
  }
  /// Makes room for that many items in all.
  void reserve(std::size_t items) { items_.reserve(items); }

  [[nodiscard]] bool empty() const noexcept { return items_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return items_.size(); }
  void clear() noexcept { items_.clear(); }

  /// Calls body(item, more) once for every item, those included that bodies add by `more.push(item)`. The order is
  /// unspecified; on one worker it is newest first. Returns when all have been processed. The bag is empty then, and
  /// may be filled again.
  ///
  /// A bag may be inside of another one, of a loop, of a task, or of a thread that is no worker. Processing needs no
  /// stack beyond that of the body, however long the chain of items that bring further ones; and memory for the items
  /// that wait.
  ///
  /// @param body  body(Item&, feeder<Item>&), or, if it adds nothing, body(Item&). Called with std::invoke where it is, by several
  ///              threads at the same time. The item is destroyed after the call.
  /// @param how   how workers share the bag; by default half of a worker's items, when somebody asks.
  /// @throws what a body throws; of several, the first. The items that wait then are destroyed unprocessed, and bodies
  ///         that are running awaited. std::invalid_argument if `how` does not go with the scheduler's policy or has a
  ///         chunk size of 0; then the bag is as it was.
  /// @par Complexity O(1) for each item beside the body, amortised; no allocation but for growth and for what is
  ///      shared, and no atomic read-modify-write unless something is shared.
  template <class Body>
    requires bag_processor<Body, Item>
  void process(Body&& body, sharing how = {}) {
    detail::run_bag(items_, body, how);
  }

  /// The same, which ends early once a stop is requested: the items that wait then are destroyed unprocessed. `how` may be
  /// left out.
  /// @return whether a stop was requested.
  template <class Body>
    requires bag_processor<Body, Item>
  loop_status process(Body&& body, sharing how, const std::stop_token& stop) {
    return detail::run_bag(items_, body, how, &stop);
  }
  template <class Body, std::same_as<std::stop_token> Stop>
    requires bag_processor<Body, Item>
  loop_status process(Body&& body, const Stop& stop) {
    return detail::run_bag(items_, body, {}, &stop);
  }

 private:
  detail::item_stack<Item> items_;
};

}  // namespace filch
