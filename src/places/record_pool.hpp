// The task records of one worker, or of whoever looks at the network. Its owner gets records from it; any thread gives
// them back.
//
// Invariants
//  1. One thread at a time is the owner.
//  2. Records last as long as the pool.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <filch/detail/place_task.hpp>
#include <filch/platform/memory.hpp>

namespace filch::detail::places {

class record_pool {
 public:
  explicit record_pool(std::uint32_t number) noexcept : number_(number) {}

  /// Owner. @throws std::bad_alloc.
  [[nodiscard]] task_record& get();
  /// Owner.
  void put(task_record& r) noexcept;
  /// Any thread.
  void give_back(task_record& r) noexcept;

 private:
  static constexpr std::size_t records_at_once = 32;

  std::uint32_t number_;
  task_record* free_ = nullptr;
  std::vector<std::unique_ptr<task_record[]>> blocks_;
  alignas(64) platform::atomic<task_record*> returned_{nullptr};  ///< by others
};

}  // namespace filch::detail::places
