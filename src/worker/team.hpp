// The workers of a scheduler, by number: first those with a thread or a seat, then guests. A worker lasts as long as
// the scheduler. Those that take part at present have the lowest numbers; guests beyond have left, and nobody looks at
// them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <filch/platform/memory.hpp>

#include "platform/mapping.hpp"

namespace filch::detail {

class worker;

class team {
 public:
  /// The thief's number must fit into a task's state.
  static constexpr std::uint32_t max_workers = 1U << 16;

  team();
  ~team();
  team(const team&) = delete;
  team& operator=(const team&) = delete;

  /// Adds a worker, which takes part, as all before it do from now on. One thread at a time, and with take_part().
  void add(std::unique_ptr<worker> w);
  /// The first `count` workers take part, and no others. None that has left has tasks, and none comes to have any.
  void take_part(std::uint32_t count) noexcept;
  /// Workers that take part have numbers below that.
  [[nodiscard]] std::uint32_t size() const noexcept {
    // [TM1] seq_cst: acquires the workers below the size, released by [TM2]. And a worker about to sleep, which has
    // announced that ([SL3]), must ask every guest whose offer has not seen it ([SL1]). No exploration catches this:
    // a guest's attention is raised, so it offers its first push, and with it looks who sleeps.
    return size_.load(std::memory_order_seq_cst);
  }
  /// All that were ever added.
  [[nodiscard]] std::uint32_t most() const noexcept { return most_.load(std::memory_order_acquire); }  // [TM3]
  [[nodiscard]] worker& operator[](std::uint32_t number) const noexcept { return *workers_[number]; }

  /// For readers in other processes (filch/watched.hpp): where most() is, and the workers' addresses.
  [[nodiscard]] const void* address_of_most() const noexcept { return &most_; }
  [[nodiscard]] const void* address_of_workers() const noexcept { return static_cast<const void*>(workers_); }

 private:
  platform::mapping memory_;  ///< the table; it never moves, so that it can be read without a lock
  worker** workers_;
  std::vector<std::unique_ptr<worker>> owned_;
  platform::atomic<std::uint32_t> size_{0};
  platform::atomic<std::uint32_t> most_{0};
};

}  // namespace filch::detail
