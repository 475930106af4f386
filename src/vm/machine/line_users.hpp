// Which nodes use a cache line. Nodes share no memory; but all nodes of a simulation live in one process, so a program
// could let them. Lines that nobody writes once two nodes know them are harmless: constants, and what was set up before.
#pragma once

#include <cstdint>

namespace filch::platform::vm {

struct line_users {
  static constexpr std::uint16_t nobody = 0xffff;

  std::uint16_t first = nobody;   ///< the node that used it first
  std::uint16_t reader = nobody;  ///< another one, which has read it: from then on nobody may write

  bool operator==(const line_users&) const = default;

  void add_reader(std::uint16_t node) noexcept {
    if (first == nobody) {
      first = node;
    } else if (first != node && reader == nobody) {
      reader = node;
    }
  }
  /// Returns a node that the line must not be shared with, or nobody.
  [[nodiscard]] std::uint16_t add_writer(std::uint16_t node) noexcept {
    if (first == nobody) first = node;
    return first == node ? reader : first;
  }
};

}  // namespace filch::platform::vm
