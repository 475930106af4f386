// How scans work: the elements are cut into blocks whose number and size depend on n and the grain alone. A first pass
// makes the sum of each block; the sums of all blocks before each one are added up one after the other; a second pass
// scans each block from there. So it is fixed in which order is added, and with it the bits of the result.
//
// The first block needs no sum of others: the first pass scans it at once. The sum of the last one is never needed. One
// block alone is therefore scanned in one pass.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <filch/detail/part_call.hpp>
#include <filch/parallel_for.hpp>

namespace filch::detail {

/// Elements 0 .. n-1 in blocks of equal size, but for the last one.
class scan_blocks {
 public:
  /// grain: the size of a block; 0: one block for few elements, else at most 2048 and not too small ones.
  scan_blocks(std::uint64_t n, std::uint64_t grain) noexcept
      : n_(n),
        size_(grain != 0 ? grain : size_for(n)),
        count_(n / size_ + (n % size_ != 0 ? 1 : 0)),
        width_(grain != 0 && n <= few ? 1 : most_in_row) {}

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint64_t begin(std::uint64_t block) const noexcept { return block * size_; }
  [[nodiscard]] std::uint64_t end(std::uint64_t block) const noexcept {
    return block + 1 == count_ ? n_ : (block + 1) * size_;
  }
  /// Blocks that a worker scans side by side. Where few elements have a grain, each is worth a worker.
  [[nodiscard]] std::uint64_t width() const noexcept { return width_; }
  [[nodiscard]] bool full(std::uint64_t block) const noexcept { return end(block) - begin(block) == size_; }

  static constexpr std::uint64_t most_in_row = 4;

 private:
  static constexpr std::uint64_t few = 4096;
  static constexpr std::uint64_t least_size = 512;
  static constexpr std::uint64_t most_blocks = 2048;

  static std::uint64_t size_for(std::uint64_t n) noexcept {
    if (n <= few) return few;
    return std::max(least_size, n / most_blocks + (n % most_blocks != 0 ? 1 : 0));
  }

  std::uint64_t n_;
  std::uint64_t size_;
  std::uint64_t count_;
  std::uint64_t width_;
};

/// The sums of blocks, which become the sums of all blocks up to each one.
template <class T>
class block_sums {
 public:
  explicit block_sums(std::uint64_t blocks) : sums_(blocks) {}

  void set(std::uint64_t block, T sum) { sums_[block].emplace(std::move(sum)); }
  template <class Combine>
  void add_up(const Combine& combine) {
    for (std::size_t i = 1; i < sums_.size(); ++i) {
      T sum = static_cast<T>(std::invoke(combine, std::as_const(*sums_[i - 1]), std::move(*sums_[i])));
      sums_[i].emplace(std::move(sum));
    }
  }
  /// What the block starts from; not the first. Only once for each.
  [[nodiscard]] T take_before(std::uint64_t block) { return std::move(*sums_[block - 1]); }

 private:
  std::vector<std::optional<T>> sums_;
};

/// A scan of elements. `Element` says what is done with one: element.add(sum, i) adds element i to the sum, and
/// element.scan(sum, i) writes a result as well.
///
/// Four neighbouring blocks, but of few elements, are worked on at the same time, element by element: each addition waits for
/// the one before it, and so four of them wait together.
template <class T, class Element, class Combine>
class element_scan {
 public:
  element_scan(const scan_blocks& blocks, const Element& element, const Combine& combine)
      : blocks_(blocks), element_(element), combine_(combine) {}

  /// first_block(end) scans the elements before `end` and returns their sum.
  template <class FirstBlock>
  void operator()(const FirstBlock& first_block) const {
    const std::uint64_t count = blocks_.count();
    if (count == 1) {
      static_cast<void>(first_block(blocks_.end(0)));
      return;
    }
    block_sums<T> sums(count - 1);
    filch::parallel_for(std::uint64_t{0}, rows(count - 1), [&](std::uint64_t row) {
      if (row == 0) {
        sums.set(0, first_block(blocks_.end(0)));
      } else {
        add_row(sums, first_of(row), std::min(first_of(row + 1), count - 1));
      }
    });
    sums.add_up(combine_);
    filch::parallel_for(std::uint64_t{1}, rows(count),
                        [&](std::uint64_t row) { scan_row(sums, first_of(row), std::min(first_of(row + 1), count)); });
  }

 private:
  /// Row 0 is the first block alone; the others have as many as go together, except perhaps the last.
  [[nodiscard]] std::uint64_t first_of(std::uint64_t row) const noexcept {
    return row == 0 ? 0 : 1 + (row - 1) * blocks_.width();
  }
  [[nodiscard]] std::uint64_t rows(std::uint64_t blocks) const noexcept {
    return 1 + (blocks - 1 + blocks_.width() - 1) / blocks_.width();
  }

  void add_row(block_sums<T>& sums, std::uint64_t from, std::uint64_t to) const {
    const Element element = element_;  // its own: what is scanned may be written to where the other one lies
    const auto add = [&element](T& sum, std::uint64_t i) { element.add(sum, i); };
    const auto start = [&](std::uint64_t block) { return element.first(blocks_.begin(block)); };
    if (to - from == scan_blocks::most_in_row && blocks_.full(to - 1)) {
      T a = start(from);
      T b = start(from + 1);
      T c = start(from + 2);
      T d = start(from + 3);
      together(a, b, c, d, blocks_.begin(from), 1, add);
      sums.set(from, std::move(a));
      sums.set(from + 1, std::move(b));
      sums.set(from + 2, std::move(c));
      sums.set(from + 3, std::move(d));
      return;
    }
    for (; from != to; ++from) {
      T sum = start(from);
      for (std::uint64_t i = blocks_.begin(from) + 1; i != blocks_.end(from); ++i) add(sum, i);
      sums.set(from, std::move(sum));
    }
  }

  void scan_row(block_sums<T>& sums, std::uint64_t from, std::uint64_t to) const {
    const Element element = element_;
    const auto scan = [&element](T& sum, std::uint64_t i) { element.scan(sum, i); };
    if (to - from == scan_blocks::most_in_row && blocks_.full(to - 1)) {
      T a = sums.take_before(from);
      T b = sums.take_before(from + 1);
      T c = sums.take_before(from + 2);
      T d = sums.take_before(from + 3);
      together(a, b, c, d, blocks_.begin(from), 0, scan);
      return;
    }
    for (; from != to; ++from) {
      T sum = sums.take_before(from);
      for (std::uint64_t i = blocks_.begin(from); i != blocks_.end(from); ++i) scan(sum, i);
    }
  }

  template <class Step>
  void together(T& a, T& b, T& c, T& d, std::uint64_t begin, std::uint64_t skip, const Step& step) const {
    const std::uint64_t size = blocks_.size();
    for (std::uint64_t i = begin + skip; i != begin + size; ++i) {
      step(a, i);
      step(b, i + size);
      step(c, i + 2 * size);
      step(d, i + 3 * size);
    }
  }

  const scan_blocks& blocks_;
  const Element& element_;
  const Combine& combine_;
};

/// A scan of parts of a range: part(i) is the i-th of them, of `count`. @return the sum of all.
template <class T, class Part, class Body, class Combine>
T scan_parts(std::uint64_t count, const Part& part, const T& identity, const Body& body, const Combine& combine) {
  const auto of_part = [&](std::uint64_t i, T before, bool is_final) -> T {
    const auto of = part(i);
    return detail::call_with_part(body, of, std::move(before), is_final);
  };
  if (count == 1) return of_part(0, T(identity), true);
  block_sums<T> sums(count - 1);
  filch::parallel_for(std::uint64_t{0}, count - 1,
                      [&](std::uint64_t i) { sums.set(i, of_part(i, T(identity), i == 0)); });
  sums.add_up(combine);
  std::optional<T> total;
  filch::parallel_for(std::uint64_t{1}, count, [&](std::uint64_t i) {
    T sum = of_part(i, sums.take_before(i), true);
    if (i + 1 == count) total.emplace(std::move(sum));
  });
  return *std::move(total);
}

}  // namespace filch::detail
