// The workers of a scheduler, by number: first those with a thread or a seat, then guests. Grows, never shrinks.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <filch/platform/memory.hpp>

#include "platform/mapping.hpp"

namespace filch {

class worker;

class team {
 public:
  /// The thief's number must fit into a task's state.
  static constexpr std::uint32_t max_workers = 1U << 16;

  team();
  ~team();
  team(const team&) = delete;
  team& operator=(const team&) = delete;

  /// Adds a worker. One thread at a time.
  void add(std::unique_ptr<worker> w);
  [[nodiscard]] std::uint32_t size() const noexcept {
    // [TM1] acquire: the workers below the size, released by [TM2].
    return size_.load(std::memory_order_acquire);
  }
  [[nodiscard]] worker& operator[](std::uint32_t number) const noexcept { return *workers_[number]; }

 private:
  platform::mapping memory_;  ///< the table; it never moves, so that it can be read without a lock
  worker** workers_;
  std::vector<std::unique_ptr<worker>> owned_;
  platform::atomic<std::uint32_t> size_{0};
};

}  // namespace filch
