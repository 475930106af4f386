// The activations of a worker, published: which taken tasks it is in the middle of, outermost first, each with the
// index where its own tasks begin on the worker's stack.
//
// The owner begins and ends activations; any thread asks whether one is active. An entry holds number and base in one
// word, so that what is read together belongs together; ending an activation erases its entry. Numbers only grow.
//
// See docs/protocols/wait.md for what follows from "active".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <filch/platform/memory.hpp>

#include "platform/mapping.hpp"
#include "worker/task_state.hpp"

namespace filch::detail {
class group_rest;

class activation_list {
 public:
  explicit activation_list(std::size_t capacity);

  /// Owner. False: so deeply nested that further activations are not listed. Nobody can help with those, so a waiter
  /// begins one only for what it has to run itself.
  [[nodiscard]] bool has_room() const noexcept { return depth_.load(std::memory_order_relaxed) < capacity_; }
  /// Owner. Begins activation `id`, whose tasks lie at `base` and above. Of a detached task: with its group.
  void begin(std::uint64_t id, std::uint32_t base, const group_rest* group = nullptr) noexcept;
  /// Owner. Ends the innermost activation.
  void end() noexcept;

  /// Owner. The number of the innermost activation; 0: none is active, or it is not listed.
  [[nodiscard]] std::uint64_t innermost() const noexcept;

  /// Any thread. The base of activation `id`, if it is active. O(log depth).
  [[nodiscard]] std::optional<std::uint32_t> find(std::uint64_t id) const noexcept;
  /// Owner. The task of the innermost activation is about to tell its group that it has ended.
  void leave_group() noexcept;
  /// Any thread. Is activation `id` active, and in it one of a task of that group, which has not ended? The caller
  /// knows that the group has not ended.
  [[nodiscard]] bool has_group_inside(std::uint64_t id, const group_rest* group) const noexcept;
  /// Any thread. The outermost activation of a task of that group that is active, or has just ended; 0: none.
  [[nodiscard]] std::uint64_t find_group(const group_rest* group) const noexcept;

 private:
  static constexpr unsigned base_bits = 20;
  static_assert(id_bits + base_bits <= 64);

  std::size_t capacity_;
  platform::mapping memory_;
  platform::atomic<std::uint64_t>* entries_;
  platform::atomic<const group_rest*>* groups_;  ///< of the entries with the same index
  platform::atomic<std::uint32_t> depth_{0};
  std::size_t unlisted_ = 0;  ///< owner: activations inside of all those
};

}  // namespace filch::detail
