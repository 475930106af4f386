// A worker's part of a bag of items of one type: the owner's fast path.
#pragma once

#include <cassert>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#include <filch/config.hpp>
#include <filch/detail/bag_share.hpp>
#include <filch/detail/item_stack.hpp>

namespace filch::detail {

template <class Item>
struct item_chunk final : bag_chunk {
  item_stack<Item> items;
};

template <class Item>
class item_share final : public bag_share {
 public:
  item_share(worker_core& owner, bag_state& of) noexcept : bag_share(owner, of) {}
  ~item_share() { delete_spares(); }
  item_share(const item_share&) = delete;
  item_share& operator=(const item_share&) = delete;

  [[nodiscard]] bool has_work() const noexcept override { return !items.empty(); }

  [[nodiscard]] std::size_t size() const noexcept override { return items.size(); }

  [[nodiscard]] bag_chunk* cut(std::size_t count) noexcept override {
    try {
      if (spare_ == nullptr) spare_ = new item_chunk<Item>;
      spare_->items.reserve(count);
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
    item_chunk<Item>& chunk = *std::exchange(spare_, static_cast<item_chunk<Item>*>(spare_->next));
    items.move_oldest(count, chunk.items);
    return &chunk;
  }

  void put_back(bag_chunk& chunk) noexcept override {
    auto& from = static_cast<item_chunk<Item>&>(chunk);
    items.swap(from.items);
    from.next = spare_;
    spare_ = &from;
  }

  void adopt(bag_chunk& chunk) noexcept override {
    delete_spares();
    put_back(chunk);
  }

  void drop() noexcept override { items.clear(); }

  template <class... Args>
  void add(Args&&... args) {
    if constexpr (checks) assert(self == &w);  // a feeder belongs to one thread
    items.emplace(std::forward<Args>(args)...);
    if (must_share(items.size())) [[unlikely]]
      detail::attend_bag(*this, false);
  }

  item_stack<Item> items;  ///< private

 private:
  void delete_spares() noexcept {
    while (spare_ != nullptr) delete std::exchange(spare_, static_cast<item_chunk<Item>*>(spare_->next));
  }

  item_chunk<Item>* spare_ = nullptr;  ///< without items
};

}  // namespace filch::detail
