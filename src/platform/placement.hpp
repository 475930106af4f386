// Where workers run: the processors that they are bound to, and with which of the others they share caches.
//
// places_of_workers() is part of the platform seam: each platform looks up its hardware threads and leaves the rest to
// place_workers(), which is a function of its arguments alone. So one rule holds for threads and for virtual workers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace filch::platform {

/// How workers are put on processors.
enum class pinning : std::uint8_t {
  none,     ///< the operating system decides
  compact,  ///< sockets are filled in order
  scatter,  ///< the same number of workers in each socket; neighbouring ranks in one socket
};

/// By the value of a pinning.
inline constexpr std::array<std::string_view, 3> pinning_names{"none", "compact", "scatter"};

[[nodiscard]] constexpr std::string_view name_of(pinning way) noexcept {
  return pinning_names[static_cast<std::size_t>(way)];
}

/// Levels of groups, from the inside out: each group of one level lies in one group of the next.
enum class group_level : std::uint8_t {
  core,    ///< hardware threads of one core
  cache,   ///< cores that share a last-level cache
  socket,  ///< cores of one package with the same memory node
};
inline constexpr std::size_t group_levels = 3;

/// Numbers of the groups that something belongs to. Two belong to one group of a level if they have the same number there.
using group_numbers = std::array<std::uint32_t, group_levels>;

/// Of workers whose place is unknown, beside others whose place is known. They count as one group.
inline constexpr std::uint32_t no_group = 0xffff'ffff;

inline constexpr int no_processor = -1;

/// Where one worker runs.
struct worker_place {
  int processor = no_processor;  ///< which the worker is bound to
  group_numbers groups{};

  /// Do both workers share what the level is about?
  [[nodiscard]] bool shares(group_level level, const worker_place& other) const noexcept {
    return groups[static_cast<std::size_t>(level)] == other.groups[static_cast<std::size_t>(level)];
  }
};

/// A processor that workers may be bound to.
struct hardware_thread {
  int processor;
  group_numbers groups;
};

/// Places for workers 0 .. `workers` - 1 on those hardware threads, of which there is at least one; not for pinning
/// `none`. Groups are ordered by their numbers. In each socket the first hardware threads of all cores come first, then
/// the second ones. With P workers and S sockets worker w is, in these orders,
///  - compact: on hardware thread w of the machine;
///  - scatter: in socket floor(w S / P), on the next hardware thread there. A socket with too few of them leaves the
///    workers that it has no room for to its neighbours.
/// If there are more workers than hardware threads, they begin again with the first one: compact of the machine, scatter
/// of the socket.
[[nodiscard]] std::vector<worker_place> place_workers(std::vector<hardware_thread> on, int workers, pinning way);

/// The platform seam: places for the workers of a scheduler, on the hardware threads that the process may use.
[[nodiscard]] std::vector<worker_place> places_of_workers(int workers, pinning way);

/// The platform seam: the number of the socket, or memory node, where the calling thread is now, which is that worker's. Of
/// one that is not bound it may be another one at any time.
[[nodiscard]] std::uint32_t socket_of_thread(const worker_place& of) noexcept;

/// The platform seam: the place of a guest of such a scheduler.
[[nodiscard]] worker_place place_of_guest(pinning way);

}  // namespace filch::platform
