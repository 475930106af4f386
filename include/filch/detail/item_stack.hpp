// The private segment of a bag: a stack of items from whose other end many can be taken at once.
//
// Items need a move constructor that does not throw, and nothing else.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace filch::detail {

template <class Item>
class item_stack {
  static_assert(std::is_nothrow_move_constructible_v<Item> && std::is_nothrow_destructible_v<Item>,
                "filch: items of a bag are moved, which must not throw; keep such items in a std::unique_ptr");

 public:
  item_stack() noexcept = default;
  item_stack(item_stack&& from) noexcept { swap(from); }
  item_stack& operator=(item_stack&& from) noexcept {
    clear();
    swap(from);
    return *this;
  }
  item_stack(const item_stack&) = delete;
  item_stack& operator=(const item_stack&) = delete;
  ~item_stack() {
    clear();
    if (memory_ != nullptr) std::allocator<Item>().deallocate(memory_, capacity());
  }

  [[nodiscard]] bool empty() const noexcept { return first_ == last_; }
  [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(last_ - first_); }

  /// Makes a new item from what is given. If that throws, nothing has changed.
  template <class... Args>
  void emplace(Args&&... args) {
    if (last_ == limit_) [[unlikely]]
      make_room();
    std::construct_at(last_, std::forward<Args>(args)...);
    ++last_;
  }

  /// Takes the newest item. Not for an empty stack.
  [[nodiscard]] Item pop() noexcept {
    Item item(std::move(*(last_ - 1)));
    std::destroy_at(--last_);
    return item;
  }

  /// Moves the oldest `count` items on top of another stack, which has room for them, in their order.
  void move_oldest(std::size_t count, item_stack& to) noexcept {
    Item* const end = first_ + count;
    to.last_ = std::uninitialized_move(first_, end, to.last_);
    Item* const first = std::exchange(first_, end);
    std::destroy(first, end);
  }

  /// Makes room for that many items in all.
  void reserve(std::size_t items) {
    if (empty()) first_ = last_ = memory_;
    if (items <= static_cast<std::size_t>(limit_ - first_)) return;
    item_stack larger;
    larger.memory_ = larger.first_ = larger.last_ = std::allocator<Item>().allocate(items);
    larger.limit_ = larger.memory_ + items;
    move_oldest(size(), larger);
    swap(larger);
  }

  void clear() noexcept {
    // It is empty before they are destroyed: a destructor may fork, and be asked for items then.
    Item* const first = std::exchange(first_, memory_);
    std::destroy(first, std::exchange(last_, memory_));
  }

  void swap(item_stack& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(first_, other.first_);
    std::swap(last_, other.last_);
    std::swap(limit_, other.limit_);
  }

 private:
  static constexpr std::size_t least_capacity = 16;

  [[nodiscard]] std::size_t capacity() const noexcept { return static_cast<std::size_t>(limit_ - memory_); }

  [[gnu::noinline]] void make_room() {
    if (size() > capacity() / 2 || capacity() == 0) {
      reserve(std::max(least_capacity, 2 * size()));
      return;
    }
    // The oldest are gone, and the room that they had is as much as what is left.
    Item* const from = first_;
    const std::size_t count = size();
    first_ = last_ = memory_;
    last_ = std::uninitialized_move(from, from + count, memory_);
    std::destroy(from, from + count);
  }

  Item* memory_ = nullptr;
  Item* first_ = nullptr;  ///< the oldest
  Item* last_ = nullptr;   ///< one past the newest
  Item* limit_ = nullptr;  ///< end of the memory
};

}  // namespace filch::detail
