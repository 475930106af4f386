// The task records of one worker, or of whoever looks at the network. Its owner gets records from it; any thread gives
// them back.
//
// Invariants
//  1. One thread at a time is the owner.
//  2. Records last as long as the pool.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <filch/detail/place_task.hpp>

#include "worker/returned_list.hpp"

namespace filch::detail::places {

class record_pool {
 public:
  explicit record_pool(std::uint32_t number) noexcept : number_(number) {}

  /// Owner. A record for a closure of so many bytes. @throws std::bad_alloc.
  [[nodiscard]] task_record& get(std::size_t room);
  /// Owner.
  void put(task_record& r) noexcept;
  /// Any thread.
  void give_back(task_record& r) noexcept;

 private:
  static constexpr std::size_t large_room = filch::places::most_closure_bytes;
  /// A small record is two cache lines.
  static constexpr std::size_t small_room = 128 - sizeof(task_record);
  /// Of one block: four pages.
  static constexpr std::size_t bytes_at_once = 16384;

  struct alignas(64) line {
    std::byte bytes[64];
  };

  void take_returned() noexcept;
  /// As many as a block has room for. @return the newest, which is free as yet
  task_record& make(bool large);

  std::uint32_t number_;
  std::array<task_record*, 2> free_{};  ///< small ones, large ones
  std::vector<std::unique_ptr<line[]>> blocks_;
  alignas(64) returned_list<task_record> returned_;  ///< by others
};

}  // namespace filch::detail::places
