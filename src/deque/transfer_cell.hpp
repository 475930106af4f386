// The transfer cell of a worker (Acar, Charguéraud and Rainey 2013, Figure 2): here it gets the answer to its request.
//
// Who may call what: expect and answer are the thief's whose cell it is; hand_over, decline and room are called by the
// owner that claimed the thief's request, once for each request.
//
// Invariant: the cell is emptied before a request is made, and written once after it was claimed.
#pragma once

#include <cstdint>

#include <filch/platform/memory.hpp>

#include "deque/slot_range.hpp"

namespace filch::detail::deque {

class transfer_cell {
 public:
  enum class outcome : std::uint8_t { awaited, declined, handed_over };
  struct answer {
    outcome what;
    slot_range tasks;  ///< if handed over
  };

  /// A request will be made, by a worker whose stack has room for that many proxies.
  void expect(std::uint32_t room) noexcept;
  [[nodiscard]] answer read() const noexcept;

  [[nodiscard]] std::uint32_t room() const noexcept { return room_.load(); }
  void hand_over(slot_range tasks) noexcept;
  void decline() noexcept;

 private:
  platform::atomic<std::uint64_t> word_{0};
  platform::shared<std::uint32_t> room_{0};  ///< handed to the owner with the request
};

}  // namespace filch::detail::deque
