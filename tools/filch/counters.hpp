// The counters of a scheduler as a list of names and members, so that differences, sums and reports name them once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <filch/statistics.hpp>

namespace filch::cli {

struct counter {
  std::string_view name;
  std::uint64_t statistics::* member;
};

inline constexpr std::array<counter, 18> counters{{{"steals", &statistics::steals},
                                                   {"failed_steals", &statistics::failed_steals},
                                                   {"leaps", &statistics::leaps},
                                                   {"grows", &statistics::grows},
                                                   {"shrinks", &statistics::shrinks},
                                                   {"offers", &statistics::offers},
                                                   {"splits", &statistics::splits},
                                                   {"transactions", &statistics::transactions},
                                                   {"synchronizations", &statistics::synchronizations},
                                                   {"coalesced", &statistics::coalesced},
                                                   {"migrations", &statistics::migrations},
                                                   {"parks", &statistics::parks},
                                                   {"interrupts", &statistics::interrupts},
                                                   {"transfer_attempts", &statistics::transfer_attempts},
                                                   {"transfer_wait_ns", &statistics::transfer_wait_ns},
                                                   {"bad_hints", &statistics::bad_hints},
                                                   {"idle_ns", &statistics::idle_ns},
                                                   {"wait_ns", &statistics::wait_ns}}};

/// Adds what was counted between two readings.
inline void add_difference(statistics& sum, const statistics& before, const statistics& after) {
  for (const counter& each : counters) {
    sum.*each.member += after.*each.member - before.*each.member;
  }
}

}  // namespace filch::cli
