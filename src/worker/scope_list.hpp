// Which finish (filch/places.hpp) the tasks on a worker's stack, and the loops that it shares, belong to. A thief asks
// when it begins an activation, so that nothing has to be said of each task.
//
// A scope begins with a position on the task stack and a number that is as large as any given so far; what is pushed
// at that position or above, and what is numbered later, was made inside. An activation begins a scope, too: that of the
// task that it runs.
//
// Invariants
//  1. Only the owner begins and ends scopes, strictly nested.
//  2. While a task waits to be taken, the entries of the scopes around it do not change, and every other entry has a
//     position above the task, and a number not below that of a loop around it. So a thief that has taken the task may
//     search among the entries while the owner changes those.
#pragma once

#include <cstddef>
#include <cstdint>

#include <filch/platform/memory.hpp>

#include "platform/mapping.hpp"

namespace filch::detail {

struct slot;

class scope_list {
 public:
  scope_list();

  /// The scope of what is in no finish and of no group that waits for it: submitted tasks and continuations.
  [[nodiscard]] static void* of_background() noexcept;

  /// Owner. Begins a scope. Beyond `most`, for which no C++ stack has room, it and those in it are none.
  void begin(const slot* from, std::uint64_t newest_number, void* scope) noexcept;
  /// Owner. Ends the innermost.
  void end() noexcept;
  /// Owner. The innermost one; null: none.
  [[nodiscard]] void* innermost() const noexcept;

  /// Who has taken a task of that slot: its scope.
  [[nodiscard]] void* of_slot(const slot* taken) const noexcept;
  /// Who has taken a part of what has that number: its scope.
  [[nodiscard]] void* of_number(std::uint64_t number) const noexcept;

 private:
  struct entry {
    platform::atomic<const slot*> from;
    platform::atomic<std::uint64_t> number;
    platform::atomic<void*> scope;
  };
  template <class Inside>
  [[nodiscard]] void* innermost_with(Inside inside) const noexcept;

  /// Reserved, and used as far as scopes are nested. Each has frames on a C++ stack.
  static constexpr std::size_t most = std::size_t{1} << 20;

  platform::mapping memory_;
  entry* entries_;
  platform::atomic<std::size_t> depth_{0};
  std::size_t unlisted_ = 0;  ///< owner: scopes inside of all those
};

}  // namespace filch::detail
