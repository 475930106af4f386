// The fixed tree in which reductions combine: its leaves depend on the number of iterations and on the grain alone, and
// so does its shape, so that the result has the same bits whoever computes which part of it.
//
// The tree is that of a binary counter. Its nodes of size s, a power of two, begin at the multiples of s; the last one
// may have fewer leaves, and one whose right half has none is its left half. So a worker that goes through any interval
// of leaves from left to right holds at most two values of each size, and needs to know nothing but where it began.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include <filch/platform/memory.hpp>

namespace filch::detail {

/// Leaves, or nodes, of a reduction that workers share, at most.
inline constexpr std::uint64_t most_leaves = 2048;

/// Leaves of one iteration that a reduction has at most, unless it says so.
inline constexpr std::uint64_t most_singles = 16 * most_leaves;

/// A node of a tree: `size` leaves from `first` on, or those of them that there are.
struct tree_node {
  std::uint64_t first;
  std::uint64_t size;

  [[nodiscard]] bool is_right() const noexcept { return (first & size) != 0; }
  [[nodiscard]] bool is_root(std::uint64_t leaves) const noexcept { return first == 0 && size >= leaves; }
  [[nodiscard]] tree_node parent() const noexcept { return {first & ~size, 2 * size}; }
  /// The first leaf of the parent's right half. No other node has it.
  [[nodiscard]] std::uint64_t middle_of_parent() const noexcept { return first | size; }
};

/// The largest node that is [first, end) in a tree of so many leaves. [first, end) is a node.
inline tree_node node_of(std::uint64_t first, std::uint64_t end, std::uint64_t leaves) noexcept {
  if (end != leaves) return {first, end - first};
  // The end of the tree: with nothing to their right, nodes are their parents, up to the next that is a right half.
  return {first, first != 0 ? first & -first : std::bit_ceil(leaves)};
}

/// Combines the values of a whole node, which get(0) .. get(Count - 1) make. Without a call or a loop in between, so
/// that what leaves have in common is done once.
template <std::uint64_t Count, std::uint64_t First = 0, class Get, class Combine>
[[gnu::always_inline]] inline auto combine_node(const Get& get, const Combine& combine) {
  if constexpr (Count == 1) {
    return get(First);
  } else {
    auto a = detail::combine_node<Count / 2, First>(get, combine);
    return combine(std::move(a), detail::combine_node<Count / 2, First + Count / 2>(get, combine));
  }
}

/// Values that cost less than a branch.
template <class T>
inline constexpr bool is_small_value =
    std::is_trivially_copyable_v<T> && std::is_trivially_default_constructible_v<T> &&
    std::is_trivially_copy_constructible_v<T> && std::is_trivially_copy_assignable_v<T> &&
    sizeof(T) <= 2 * sizeof(void*);

/// Leaves that have something in common which the compiler finds in a row of them: worth the code of sixteen.
template <class Leaf>
concept alike_leaf = requires { requires Leaf::are_alike; };

/// The values of an interval of leaves, added from left to right. Siblings are combined as soon as both are there; but
/// small values of single leaves only sixteen at a time, because a branch for each leaf costs more than a value.
///
/// @tparam Most   values that there may be at a time: two of each size, but one of sizes of which the interval begins at
///                a multiple.
/// @tparam Exact  the value of a node may be made at once, since in whatever order its leaves are combined, the bits
///                are the same.
template <class T, std::size_t Most = 2 * std::bit_width(most_leaves), bool Exact = false>
class open_values {
 public:
  open_values() = default;
  ~open_values() { clear(); }
  open_values(const open_values&) = delete;
  open_values& operator=(const open_values&) = delete;

  /// The next leaf to be added is `first`. What is there, of values of which combining two has failed, is not wanted.
  void begin(std::uint64_t first) noexcept {
    clear();
    begin_ = first;
  }

  /// Adds the next leaf.
  template <class Combine>
  [[gnu::always_inline]] void add_leaf(std::uint64_t i, T value, const Combine& combine) {
    if constexpr (in_rows) {
      row_[i % row] = value;
      if (i % row == row - 1) [[unlikely]]
        end_row(i + 1, combine);
    } else {
      add({i, 1}, std::move(value), combine);
    }
  }
  /// Adds the leaves [low, high), which are the next; leaf(i) makes their values, leaf.node(i, end) that of a node.
  template <class Leaf, class Combine>
  [[gnu::always_inline]] void add_leaves(std::uint64_t low, std::uint64_t high, const Leaf& leaf,
                                         const Combine& combine) {
    std::uint64_t i = low;
    if constexpr (Exact) {
      while (i != high) {
        const std::uint64_t most = std::bit_floor(high - i);
        const std::uint64_t size = i == 0 ? most : std::min(most, i & -i);
        add({i, size}, leaf.node(i, i + size), combine);
        i += size;
      }
    } else if constexpr (alike_leaf<Leaf>) {
      for (; i % row != 0 && i != high; ++i) add_leaf(i, leaf(i), combine);
      for (; high - i >= row; i += row) {
        add({i, row}, detail::combine_node<row>([&](std::uint64_t j) -> T { return leaf(i + j); }, combine), combine);
      }
      for (; i != high; ++i) add_leaf(i, leaf(i), combine);
    } else if constexpr (in_rows) {
      while (i != high) {
        const std::uint64_t end = std::min(high, i - i % row + row);
        for (; i != end; ++i) row_[i % row] = leaf(i);
        if (i % row == 0) end_row(i, combine);
      }
    } else {
      for (; i != high; ++i) add({i, 1}, leaf(i), combine);
    }
  }
  /// Adds the next node; leaves before it, in rows, are whole ones.
  template <class Combine>
  void add(tree_node node, T value, const Combine& combine) {
    if (count_ != 0 && node.is_right() && firsts_[count_ - 1] == node.first - node.size) {
      add(node.parent(), combine(pop(), std::move(value)), combine);
    } else {
      push(node.first, std::move(value));
    }
  }
  /// The interval ends here.
  template <class Combine>
  void end(std::uint64_t end, std::uint64_t leaves, const Combine& combine) {
    if constexpr (in_rows) {
      if (end % row != 0) end_row(end, combine);
    }
    // With nothing to their right, nodes are their parents.
    while (end == leaves && count_ > 1) {
      const std::uint64_t first = firsts_[count_ - 1];
      const std::uint64_t left = first & (first - 1);
      if (firsts_[count_ - 2] != left) return;
      T right = pop();
      T value = combine(pop(), std::move(right));
      push(left, std::move(value));
    }
  }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] std::uint64_t first_of_newest() const noexcept { return firsts_[count_ - 1]; }
  /// Takes the rightmost value out.
  T pop() {
    const ender of_newest{*this};  // also when moving it throws
    return std::move(*at(count_ - 1));
  }
  void clear() noexcept {
    while (count_ != 0) end_newest();
  }

 private:
  static constexpr std::uint64_t row = 16;
  static constexpr bool in_rows = is_small_value<T> && !Exact;

  /// Combines the leaves of the row that ends at `end`, or stops there. One function for all reductions with this
  /// combination.
  template <class Combine>
  [[gnu::noinline]] void end_row(std::uint64_t end, const Combine& combine) {
    const std::uint64_t first = (end - 1) / row * row;
    if (first >= begin_) [[likely]] {
      add_nodes<row>(first, end, combine);
    } else {
      for (std::uint64_t i = begin_; i != end; ++i) add({i, 1}, row_[i % row], combine);
    }
  }
  /// Adds [first, end) of a row; first is a multiple of the size, and not more than that follows.
  template <std::uint64_t Size, class Combine>
  [[gnu::always_inline]] void add_nodes(std::uint64_t first, std::uint64_t end, const Combine& combine) {
    if (end - first >= Size) {
      const T* const values = row_.data() + first % row;
      add({first, Size}, detail::combine_node<Size>([values](std::uint64_t i) -> T { return values[i]; }, combine),
          combine);
      first += Size;
    }
    if constexpr (Size > 1) add_nodes<Size / 2>(first, end, combine);
  }
  void push(std::uint64_t first, T&& value) {
    ::new (static_cast<void*>(&values_[count_].bytes)) T(std::move(value));
    firsts_[count_++] = first;
  }
  void end_newest() noexcept { std::destroy_at(at(--count_)); }
  struct ender {
    open_values& of;
    ~ender() { of.end_newest(); }
  };
  [[nodiscard]] T* at(std::size_t i) noexcept { return std::launder(reinterpret_cast<T*>(&values_[i].bytes)); }

  /// For a value, which is there or not.
  struct room {
    alignas(T) std::byte bytes[sizeof(T)];
  };
  struct nothing {};
  std::uint64_t begin_ = 0;
  std::size_t count_ = 0;
  std::array<std::uint64_t, Most> firsts_;  // of each value, the first leaf
  std::array<room, Most> values_;
  [[no_unique_address]] std::conditional_t<in_rows, std::array<T, row>, nothing> row_;
};

/// A value that waits for its sibling's.
struct left_value {
  explicit left_value(tree_node of) noexcept : node(of) {}
  tree_node node;
};

/// Where the workers of a reduction leave values whose siblings others have. The second of two to come combines them.
///
/// A node's two halves have a cell of their own, so that workers wait for nobody and touch the cells of their own
/// neighbours alone (docs/protocols/loops.md, "Reductions"). The cells are made when the first value comes.
class value_meeting {
 public:
  value_meeting() = default;
  value_meeting(const value_meeting&) = delete;
  value_meeting& operator=(const value_meeting&) = delete;
  ~value_meeting() { delete[] cells_.load(std::memory_order_relaxed); }

  /// Leaves `mine`, or takes its sibling out, which the caller then owns. Any thread. `of_both`: the number of their cell,
  /// of so many.
  /// @throws std::bad_alloc, with nothing left.
  [[nodiscard]] left_value* meet(left_value& mine, std::uint64_t of_both, std::uint64_t count) {
    cell& place = cells(count)[of_both];
    // [MV1] what was done to make a value comes before it is combined.
    left_value* other = place.load(std::memory_order_acquire);
    if (other == nullptr &&
        place.compare_exchange_strong(other, &mine, std::memory_order_release, std::memory_order_acquire))
      return nullptr;
    place.store(nullptr, std::memory_order_relaxed);  // [MV1] relaxed: nobody else comes to this cell
    return other;
  }
  /// Calls f(value) for what is still there, once nobody leaves any more: relaxed, since the joins of all parts come before.
  template <class F>
  void for_each(std::uint64_t count, const F& f) const {
    const cell* const all = cells_.load(std::memory_order_relaxed);
    if (all == nullptr) return;
    for (std::uint64_t i = 0; i != count; ++i) {
      if (left_value* const v = all[i].load(std::memory_order_relaxed)) f(v);
    }
  }

 private:
  using cell = platform::atomic<left_value*>;

  [[nodiscard]] cell* cells(std::uint64_t count) {
    // [MV2] who sees the cells sees that they are empty.
    cell* all = cells_.load(std::memory_order_acquire);
    if (all != nullptr) [[likely]]
      return all;
    auto mine = std::make_unique<cell[]>(count);
    if (!cells_.compare_exchange_strong(all, mine.get(), std::memory_order_release, std::memory_order_acquire))
      return all;
    return mine.release();
  }

  platform::atomic<cell*> cells_{nullptr};  ///< by the first leaf of the right one of two siblings
};

/// The result of a reduction, and what of it is still apart.
template <class T>
class reduction_result {
 public:
  reduction_result(std::uint64_t leaves, unsigned shift) noexcept : leaves_(leaves), shift_(shift) {}
  ~reduction_result() {
    if (root_.has_value()) return;  // of all values
    meeting_.for_each(nodes(), [](left_value* v) { delete static_cast<left*>(v); });
  }
  reduction_result(const reduction_result&) = delete;
  reduction_result& operator=(const reduction_result&) = delete;

  [[nodiscard]] std::uint64_t leaves() const noexcept { return leaves_; }
  /// Nodes of 2^shift leaves that workers share.
  [[nodiscard]] std::uint64_t nodes() const noexcept { return ((leaves_ - 1) >> shift_) + 1; }
  /// The leaf where that node begins, or the last one ends.
  [[nodiscard]] std::uint64_t leaf_of(std::uint64_t node) const noexcept { return std::min(node << shift_, leaves_); }

  /// Once all leaves are in.
  [[nodiscard]] T take() { return std::move(root_).value(); }

  /// Takes the values of an interval that ends at `end`. Any thread.
  template <class Values, class Combine>
  void add(Values& values, std::uint64_t end, const Combine& combine) {
    values.end(end, leaves_, combine);
    while (!values.empty()) {
      const std::uint64_t first = values.first_of_newest();
      const tree_node node = node_of(first, end, leaves_);
      if (node.is_root(leaves_)) {
        root_.emplace(values.pop());
      } else {
        add_one(std::make_unique<left>(node, values.pop()), combine);
      }
      end = first;
    }
  }

 private:
  struct left : left_value {
    left(tree_node of, T&& v) : left_value(of), value(std::move(v)) {}
    T value;
  };

  template <class Combine>
  void add_one(std::unique_ptr<left> mine, const Combine& combine) {
    while (left_value* const met = meeting_.meet(*mine, mine->node.middle_of_parent() >> shift_, nodes())) {
      std::unique_ptr<left> other(static_cast<left*>(met));
      if (mine->node.is_right()) std::swap(mine, other);
      T value = combine(std::move(mine->value), std::move(other->value));
      tree_node node = mine->node.parent();
      if (node.first + node.size >= leaves_) node = node_of(node.first, leaves_, leaves_);
      if (node.is_root(leaves_)) {
        root_.emplace(std::move(value));
        return;
      }
      mine = std::make_unique<left>(node, std::move(value));
    }
    static_cast<void>(mine.release());  // the meeting has it
  }

  std::uint64_t leaves_;
  unsigned shift_;
  value_meeting meeting_;
  std::optional<T> root_;  // written by whoever combines the last two
};

/// Leaves of which whole nodes can be made at once: node(i, end) makes the value of the leaves [i, end).
template <class Leaf>
concept makes_nodes = requires(const Leaf& leaf) { leaf.node(std::uint64_t{}, std::uint64_t{}); };

/// A reduction as a loop over nodes: `leaf(i)` makes the value of leaf i; `combine(a, b)` that of two neighbours.
template <class T, class Leaf, class Combine>
struct reduction_block {
  Leaf leaf;
  const Combine& combine;
  reduction_result<T>& result;

  /// Two of each size of nodes that workers share, and one of each size below.
  static constexpr std::size_t most =
      2 * std::bit_width(most_leaves) + (alike_leaf<Leaf> ? std::bit_width(most_singles / most_leaves) - 1 : 0);
  using values = open_values<T, most, makes_nodes<Leaf>>;

  [[nodiscard]] std::uint64_t size() const noexcept { return result.nodes(); }

  void run(std::uint64_t low, std::uint64_t high, std::uint64_t& at, values& sums) const {
    at = low;
    sums.add_leaves(result.leaf_of(low), result.leaf_of(high), leaf, combine);
  }

  void begin(std::uint64_t first, values& sums) const noexcept { sums.begin(result.leaf_of(first)); }
  void end(std::uint64_t end, values& sums) const { result.add(sums, result.leaf_of(end), combine); }
};

}  // namespace filch::detail
