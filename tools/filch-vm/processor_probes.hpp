// Micro-benchmarks of the machine at hand, for its machine file: what single operations of the processors and of the
// system cost, in nanoseconds. They run on this machine's real processors; nothing of filch
// takes part.
#pragma once

#include <cstddef>

namespace filch::cli {

/// How many processors this process may use. The probes that say so need two.
int usable_processors();

/// A load that hits the first cache and waits for its predecessor.
double hit_ns();
/// An atomic addition to a word of the own cache.
double atomic_ns();
/// One processor hands a line to another: from its store until the other has loaded what was stored. Two processors.
double hand_over_ns();
/// A load out of memory that waits for its predecessor.
double memory_load_ns();
/// Reading a line of 64 bytes out of an array of that size, over and over.
double streaming_line_ns(std::size_t bytes);
/// The same by two processors at once, each its own array: time for one line of either. Two processors.
double streaming_line_of_two_ns(std::size_t bytes);
double pause_ns();

struct futex_costs {
  double park_ns;          ///< falling asleep, until the processor is free
  double wake_call_ns;     ///< the waker's system call
  double wake_latency_ns;  ///< from its end until the sleeper runs
};
/// Two processors.
futex_costs measure_futex();

struct signal_costs {
  double call_ns;
  double latency_ns;
};
/// Two processors.
signal_costs measure_signal();

/// Of the private (second level) and of the shared (last level) cache, in bytes; 0 where the system does not say.
std::size_t private_cache_bytes();
std::size_t shared_cache_bytes();

}  // namespace filch::cli
