// Cache lines of the many-core machine and what getting hold of one costs.
//
// With several nodes, cores are those of the node that uses the line: the others have no part in its state.
//
// A line is with one core alone (it may write), with several (they may read), or with nobody yet: the first to ask then
// has it at once. Lines of the scheduler are assumed never to fall out of a cache; what programs declare to touch is
// data_memory's.
//
// Invariants
//  1. A line has an owner or holders, never both.
//  2. Transfers that take a line from its owner or its holders occupy it one after the other: the next begins when
//     `free_at` is reached. Loads of a line that nobody owns do not wait for each other.
#pragma once

#include <algorithm>
#include <cstdint>

#include "vm/machine/core_set.hpp"
#include "vm/machine/line_users.hpp"
#include "vm/machine/machine_file.hpp"
#include "vm/machine/page_table.hpp"
#include "vm/machine/virtual_time.hpp"

namespace filch::platform::vm {

struct cache_line {
  static constexpr std::uint32_t nobody = 0xffff'ffff;

  picoseconds free_at = 0;       ///< end of the last exclusive transfer
  std::uint32_t owner = nobody;  ///< has the line alone
  line_users users;
  core_set holders;  ///< have a clean copy
};

class coherence {
 public:
  explicit coherence(const machine_description& machine)
      : cores_(static_cast<std::uint32_t>(machine.cores())),
        cores_per_socket_(static_cast<std::uint32_t>(machine.cores_per_socket)),
        hit_(from_ns(machine.lines.hit_ns)),
        atomic_extra_(from_ns(machine.lines.atomic_extra_ns)),
        load_owned_(machine.lines.load_owned),
        load_shared_(machine.lines.load_shared),
        store_owned_(machine.lines.store_owned),
        store_shared_(machine.lines.store_shared) {}

  [[nodiscard]] cache_line& line_at(const void* address) { return lines_.at(address); }
  void forget(const void* address, std::size_t bytes) { lines_.forget(address, bytes); }
  /// The memory is somebody else's now; lines that only those users had stay as they are.
  void renew(const void* address, std::size_t bytes, line_users users) {
    lines_.visit(address, bytes, [users](cache_line& line) {
      if (line.users != users) line = {};
    });
  }

  [[nodiscard]] picoseconds hit() const noexcept { return hit_; }
  [[nodiscard]] picoseconds atomic_extra() const noexcept { return atomic_extra_; }

  [[nodiscard]] static bool may_read(const cache_line& line, std::uint32_t core) noexcept {
    return line.owner == core || line.holders.contains(core);
  }
  [[nodiscard]] static bool may_write(const cache_line& line, std::uint32_t core) noexcept {
    return line.owner == core;
  }

  /// `core`, which may not read the line, loads it. Returns when it has it.
  [[nodiscard]] picoseconds load(cache_line& line, std::uint32_t core, picoseconds now);
  /// `core`, which may not write the line, gets it alone. Returns when it has it. `atomic`: the operation keeps the
  /// line for as long as a read-modify-write takes.
  [[nodiscard]] picoseconds own(cache_line& line, std::uint32_t core, picoseconds now, bool atomic);
  /// An object was made there: its maker has the line.
  static void create(cache_line& line, std::uint32_t core, std::uint32_t cores, line_users users) noexcept {
    line.owner = core;
    line.users = users;
    line.holders.clear(cores);
  }
  [[nodiscard]] std::uint32_t cores() const noexcept { return cores_; }

 private:
  struct transfer {
    explicit transfer(const by_distance& ns)
        : same_socket(from_ns(ns.same_socket_ns)), other_socket(from_ns(ns.other_socket_ns)) {}
    picoseconds same_socket;
    picoseconds other_socket;
    [[nodiscard]] picoseconds cost(bool same) const noexcept { return same ? same_socket : other_socket; }
  };

  [[nodiscard]] std::uint32_t first_of_socket(std::uint32_t core) const noexcept {
    return core - core % cores_per_socket_;
  }
  [[nodiscard]] bool same_socket(std::uint32_t a, std::uint32_t b) const noexcept {
    return a / cores_per_socket_ == b / cores_per_socket_;
  }

  page_table<cache_line, 6> lines_;
  std::uint32_t cores_;
  std::uint32_t cores_per_socket_;
  picoseconds hit_;
  picoseconds atomic_extra_;
  transfer load_owned_;
  transfer load_shared_;
  transfer store_owned_;
  transfer store_shared_;
};

}  // namespace filch::platform::vm
