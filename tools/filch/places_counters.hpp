// The counts of a place as a list of names and members, so that differences, sums and reports name them once.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string_view>

#include <filch/places_options.hpp>

namespace filch::cli {

struct places_counter {
  std::string_view name;
  std::uint64_t places::counts::* member;
};

inline constexpr std::array<places_counter, 12> places_counters{{{"probes", &places::counts::probes},
                                                                 {"requests", &places::counts::requests},
                                                                 {"received", &places::counts::received},
                                                                 {"received_idle", &places::counts::received_idle},
                                                                 {"dropped", &places::counts::dropped},
                                                                 {"steals", &places::counts::steals},
                                                                 {"tasks_stolen", &places::counts::tasks_stolen},
                                                                 {"tasks_sent", &places::counts::tasks_sent},
                                                                 {"failed_steals", &places::counts::failed_steals},
                                                                 {"cyclic_steals", &places::counts::cyclic_steals},
                                                                 {"messages", &places::counts::messages},
                                                                 {"idle_ns", &places::counts::idle_ns}}};
/// The other one, an array.
inline constexpr std::string_view victims_counter = "victims";
/// Names of its elements.
inline constexpr std::array<std::string_view, 5> victims_counters{"victims_1", "victims_2", "victims_3", "victims_4",
                                                                  "victims_more"};
/// Their sum.
inline constexpr std::string_view searches_counter = "searches";

/// By name, one of all of the above but the array. Nothing: there is no such counter.
inline std::optional<std::uint64_t> counted_as(std::string_view name, const places::counts& of) {
  if (name == searches_counter) return std::accumulate(of.victims.begin(), of.victims.end(), std::uint64_t{0});
  const auto element = std::find(victims_counters.begin(), victims_counters.end(), name);
  if (element != victims_counters.end())
    return of.victims[static_cast<std::size_t>(element - victims_counters.begin())];
  const auto found = std::find_if(places_counters.begin(), places_counters.end(),
                                  [&](const places_counter& each) { return each.name == name; });
  if (found == places_counters.end()) return std::nullopt;
  return of.*found->member;
}

/// What is known of simulated runs besides: of the time of all workers, what the program's work took, and what neither
/// that nor idleness did.
inline constexpr std::array<std::string_view, 3> time_counters{"worker_ns", "charged_ns", "overhead_ns"};

/// By name, one of these.
inline double time_counted_as(std::string_view name, double all_ns, double charged_ns, std::uint64_t idle_ns) {
  if (name == time_counters[0]) return all_ns;
  if (name == time_counters[1]) return charged_ns;
  return all_ns - charged_ns - static_cast<double>(idle_ns);
}

inline places::counts sum_of(places::counts a, const places::counts& b) {
  for (const places_counter& each : places_counters) a.*each.member += b.*each.member;
  for (std::size_t i = 0; i < a.victims.size(); ++i) a.victims[i] += b.victims[i];
  return a;
}

/// What was counted between two readings.
inline places::counts difference_of(places::counts after, const places::counts& before) {
  for (const places_counter& each : places_counters) after.*each.member -= before.*each.member;
  for (std::size_t i = 0; i < after.victims.size(); ++i) after.victims[i] -= before.victims[i];
  return after;
}

}  // namespace filch::cli
