// Which of many nodes is the earliest: a tournament of their clocks. Of equal clocks the lower number wins.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "vm/machine/virtual_time.hpp"

namespace filch::platform::vm {

class node_clocks {
 public:
  /// All are at `never`.
  explicit node_clocks(std::size_t nodes) : size_(std::bit_ceil(nodes)), clocks_(size_, never), winners_(2 * size_) {
    for (std::size_t i = 0; i < size_; ++i) winners_[size_ + i] = static_cast<std::uint32_t>(i);
    for (std::size_t i = size_ - 1; i > 0; --i) winners_[i] = winners_[2 * i];
  }

  void set(std::uint32_t node, picoseconds clock) noexcept {
    clocks_[node] = clock;
    for (std::size_t i = (size_ + node) / 2; i > 0; i /= 2) {
      const std::uint32_t left = winners_[2 * i];
      const std::uint32_t right = winners_[2 * i + 1];
      winners_[i] = clocks_[right] < clocks_[left] ? right : left;
    }
  }

  [[nodiscard]] std::uint32_t first() const noexcept { return winners_[1]; }
  /// Clock of the first.
  [[nodiscard]] picoseconds earliest() const noexcept { return clocks_[first()]; }

 private:
  std::size_t size_;
  std::vector<picoseconds> clocks_;
  std::vector<std::uint32_t> winners_;  // node i is leaf size_ + i; the winner of all is at 1
};

}  // namespace filch::platform::vm
