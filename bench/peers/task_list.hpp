// Tasks of one size, one behind the other: the newest and the oldest can be taken.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace filch::bench {

class task_list {
 public:
  using task_bytes = std::span<const std::byte>;

  /// Without tasks.
  void begin(std::size_t bytes_of_task) {
    size_ = bytes_of_task;
    bytes_.clear();
    first_ = 0;
  }

  [[nodiscard]] std::size_t tasks() const { return (bytes_.size() - first_) / size_; }
  [[nodiscard]] bool empty() const { return bytes_.size() == first_; }

  /// One or several.
  void add(task_bytes tasks) { bytes_.insert(bytes_.end(), tasks.begin(), tasks.end()); }

  /// There is one. It lasts until another one is taken.
  task_bytes take_newest() {
    taken_.assign(bytes_.end() - static_cast<std::ptrdiff_t>(size_), bytes_.end());
    bytes_.resize(bytes_.size() - size_);
    return taken_;
  }

  /// There are as many. They last until others are taken.
  task_bytes take_oldest(std::size_t count) {
    const auto from = bytes_.begin() + static_cast<std::ptrdiff_t>(first_);
    const auto to = from + static_cast<std::ptrdiff_t>(count * size_);
    taken_.assign(from, to);
    first_ += count * size_;
    // As many are moved as were taken before, at most.
    if (first_ >= bytes_.size() - first_) {
      bytes_.erase(bytes_.begin(), to);
      first_ = 0;
    }
    return taken_;
  }

 private:
  std::size_t size_ = 1;
  std::vector<std::byte> bytes_;
  std::size_t first_ = 0;  // the oldest
  std::vector<std::byte> taken_;
};

}  // namespace filch::bench
