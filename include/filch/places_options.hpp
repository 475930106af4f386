// How a program that runs at several places is set up, and what it counts.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include <filch/scheduler.hpp>

namespace filch::places {

/// Every field has a default that needs no thought.
struct options {
  /// Of the scheduler of each place. Its workers are the computation workers; where their number is left open, places
  /// that share processors divide them, and a dedicated thread counts as one. With join "random" let no thread of the program's own
  /// run anything on it: it may get tasks of the place, which fail there.
  filch::options scheduler = {};
  /// How tasks of async_any come to places that have none: "success_only", "baseline" or "lifeline". Empty:
  /// FILCH_PLACES_POLICY when that is set, else "success_only".
  std::string policy = {};
  /// Who looks at the network: "dedicated", a thread beside the workers; or "shared", whichever worker is idle, and a
  /// thread that looks every 100 us when none is. Empty: FILCH_PLACES_COMMUNICATION when that is set, else "shared".
  std::string communication = {};
  /// Tasks that one steal moves at most, 1 to 5. 0: FILCH_PLACES_SHIPMENT when that is set, else 1.
  int tasks_per_shipment = 0;
  /// A place is asked for tasks when it has more than so many. -1: twice its workers, the communication thread included.
  int threshold = -1;
  /// So many idle workers make a place look for tasks elsewhere. 0: one; three of more than twelve.
  int idle_workers = 0;
  /// Lifeline: places that are asked at random before the lifelines are.
  int attempts = 1;
  /// success_only: may a place ask one that waits for its own tasks?
  bool cyclic_steals = true;
};

/// What a place has counted since the program began.
struct counts {
  std::uint64_t probes = 0;                   ///< looks at another place's load
  std::uint64_t requests = 0;                 ///< sent to victims
  std::uint64_t received = 0;                 ///< from thieves
  std::uint64_t received_idle = 0;            ///< of these, while a worker here had nothing
  std::uint64_t dropped = 0;                  ///< of these, never answered because the finish was over
  std::uint64_t steals = 0;                   ///< shipments that arrived
  std::uint64_t tasks_stolen = 0;             ///< tasks in these
  std::uint64_t tasks_sent = 0;               ///< tasks that others have stolen here
  std::uint64_t failed_steals = 0;            ///< requests that were refused
  std::uint64_t cyclic_steals = 0;            ///< requests to a place that waited for this one's tasks
  std::uint64_t messages = 0;                 ///< that steals needed: requests, answers, locks and flags, but no probes
  std::uint64_t idle_ns = 0;                  ///< nanoseconds that workers had no task at all, awake or asleep
  std::array<std::uint64_t, 5> victims = {};  ///< phases of search with 1, 2, 3, 4 and more victims
};

}  // namespace filch::places
