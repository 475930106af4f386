// Tasks of one size, one behind the other: the newest and the oldest can be taken.
#pragma once

#include <cstddef>
#include <deque>
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
  }

  [[nodiscard]] std::size_t tasks() const { return bytes_.size() / size_; }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }

  /// One or several.
  void add(task_bytes tasks) { bytes_.insert(bytes_.end(), tasks.begin(), tasks.end()); }

  /// There is one. It lasts until another one is taken.
  task_bytes take_newest() { return take(bytes_.end() - static_cast<std::ptrdiff_t>(size_), bytes_.end()); }

  /// There are as many. They last until others are taken.
  task_bytes take_oldest(std::size_t count) {
    return take(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(count * size_));
  }

 private:
  using position = std::deque<std::byte>::iterator;

  task_bytes take(const position& from, const position& to) {
    taken_.assign(from, to);
    bytes_.erase(from, to);
    return taken_;
  }

  std::size_t size_ = 1;
  std::deque<std::byte> bytes_;
  std::vector<std::byte> taken_;
};

}  // namespace filch::bench
