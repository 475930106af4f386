// Machine files: what the many-core machine of the virtual machine needs to know about a computer.
//
// A machine file is a JSON object. Its keys are the names of the members below: about, sources and calibrated, and one
// object for each group of figures, of which "shape" holds the counts. All but about, sources and network must be there.
//
// It describes cores that each have a private cache; cores form sockets, which share a last-level cache and have memory
// of their own. A socket here is what shares a last-level cache, so a package with two dies is two sockets. There are
// two distances: within a socket and between sockets. Every figure of a file in machines/ has its source there.
//
// Reading is strict: a figure that is missing, misspelt or impossible is an error that says what to do, because a
// simulation with a figure silently left at a default would still look plausible.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace filch::platform::vm {

/// The most hardware threads that a machine may have: a worker's number has 16 bits, and one value means nobody.
inline constexpr int most_hardware_threads = (1 << 16) - 1;

/// A latency by where the other core is, in nanoseconds.
struct by_distance {
  double same_socket_ns;   ///< both cores are in one socket
  double other_socket_ns;  ///< they are not; the mean over the other sockets, where those differ in distance
};

/// What one access to a cache line costs the core that makes it, in nanoseconds, from issue until its result is there.
struct line_costs {
  double hit_ns;             ///< load or store of a line that the core holds in the state it needs
  by_distance load_owned;    ///< load of a line that one other core has exclusively or modified
  by_distance load_shared;   ///< load of a line that other cores hold clean; distance to the nearest of them
  by_distance store_owned;   ///< store to a line that one other core has exclusively or modified
  by_distance store_shared;  ///< store to a line that others hold as well; distance to the farthest that must drop it
  double atomic_extra_ns;    ///< added to the store for a read-modify-write or a fully fenced store, hit or not
};

/// Latency of a line that is in no cache, in nanoseconds.
struct memory_costs {
  double local_ns;   ///< from the memory of the core's own socket
  double remote_ns;  ///< from that of another; the mean, where they differ
};

/// Where the pages of a workload's data are.
enum class numa_policy {
  first_touch,  ///< in the memory of the socket whose core touched them first
  interleave,   ///< in turn on all sockets
};

/// By the value of a policy; as in machine files.
inline constexpr std::array<std::string_view, 2> numa_policy_names{"first_touch", "interleave"};

[[nodiscard]] constexpr std::string_view name_of(numa_policy policy) noexcept {
  return numa_policy_names[static_cast<std::size_t>(policy)];
}

/// What a socket's shared cache holds of what its cores read.
enum class shared_cache_kind {
  inclusive,      ///< all that they have in their private caches, and what those had to drop
  non_inclusive,  ///< what the private caches had to drop, until a core wants it again
};

/// By the value of a kind; as in machine files.
inline constexpr std::array<std::string_view, 2> shared_cache_names{"inclusive", "non_inclusive"};

/// Caches for the data that workloads declare, and what streaming through that data costs one core per line of
/// 64 bytes, in nanoseconds (throughput with prefetching, not latency).
struct data_costs {
  std::int64_t private_bytes;      ///< caches of one core
  std::int64_t shared_bytes;       ///< last-level cache of one socket; 0: there is none
  shared_cache_kind shared_cache;  ///< what is in there
  numa_policy numa;                ///< as in the experiments that the machine is known from
  double private_line_ns;          ///< from the core's own caches
  double shared_line_ns;           ///< from its socket's last-level cache
  double local_memory_line_ns;     ///< from its socket's memory
  double remote_memory_line_ns;    ///< from another socket's memory
  double memory_interval_ns;       ///< a socket's memory serves one line in this time to all readers together
};

/// What the operating system's and the processor's help costs, in nanoseconds.
struct system_costs {
  double pause_ns;           ///< one pause instruction
  double park_ns;            ///< going to sleep: from the call until the core is free
  double wake_call_ns;       ///< waking a sleeper: the system call, to the waker
  double wake_latency_ns;    ///< from the end of that call until the sleeper runs
  double signal_call_ns;     ///< interrupting another thread: the system call, to the sender
  double signal_latency_ns;  ///< from the end of that call until the handler runs
};

/// What the runtime costs apart from its memory operations, in nanoseconds.
struct runtime_costs {
  double spawn_ns;  ///< instructions of pushing one task and joining it when nobody has stolen it
};

/// What connects several such computers, each a node of a larger one: figures as in LogGP.
struct network_costs {
  double latency_ns;           ///< from the end of sending until the message can be received, at least
  double ns_per_byte;          ///< a node's messages leave it one after the other, at this rate
  double send_overhead_ns;     ///< of the processor that sends
  double receive_overhead_ns;  ///< of the processor that receives
  double read_ns;              ///< one-sided read of a word of another node
  double atomic_ns;            ///< one-sided compare-and-swap there
  double poll_ns;              ///< a look for messages, or for a receipt, that finds none
  double jitter;               ///< latencies are up to this share longer, by chance
};

/// How long one unit of a workload's sequential work takes, its data in the private cache: nanoseconds, by the name that
/// the workload gives the unit ("fib_call"; in the file "fib_call_ns").
using work_prices = std::map<std::string, double, std::less<>>;

/// A computer to simulate.
struct machine_description {
  std::string name;                            ///< of the file, or the shape
  std::map<std::string, std::string> about;    ///< free text for people
  std::map<std::string, std::string> sources;  ///< by group of figures ("lines", "work", ...): where they come from
  bool calibrated;         ///< the figures were measured on this very machine, not taken from publications
  int sockets;             ///< at least 1
  int cores_per_socket;    ///< at least 1
  int threads_per_core;    ///< hardware threads, which share the private cache; at least 1
  double core_throughput;  ///< work of a core whose threads are all busy, in multiples of one busy alone; 1 to
                           ///< threads_per_core
  double clock_ghz;        ///< nominal; for people: all figures are in nanoseconds
  line_costs lines;
  memory_costs memory;
  data_costs data;
  system_costs system;
  runtime_costs runtime;
  std::optional<network_costs> network;  ///< none: there is one node
  work_prices work;

  [[nodiscard]] int cores() const noexcept { return sockets * cores_per_socket; }
  /// At most most_hardware_threads.
  [[nodiscard]] int hardware_threads() const noexcept { return cores() * threads_per_core; }
};

/// The names that load_machine knows in `folder`, sorted: its files NAME.json. Throws std::invalid_argument when the
/// folder cannot be read.
std::vector<std::string> machine_names(const std::filesystem::path& folder);

/// Reads and checks a machine: a name of a file in `folder` ("opteron-6168"); a path to a file, told by a slash or by
/// ending in ".json"; or a shape, "4x12" for 4 sockets of 12 cores with the figures of generic.json in `folder`.
/// Throws std::invalid_argument with one line that names the value, what is wrong with it and what to do.
machine_description load_machine(std::string_view name_or_path_or_shape, const std::filesystem::path& folder);

/// The same machine with communication slower (factor above 1) or faster (below 1), for sensitivity analyses: scales
/// transfers of lines, memory, the shared cache, waking, parking, signals and the network. What a core does by itself
/// stays: hits, the extra of an atomic operation, the private cache, pause, spawning, work, and its part in sending,
/// receiving and polling. Throws std::invalid_argument unless
/// the factor is finite and above 0.
machine_description scaled(const machine_description& machine, double communication_factor);

}  // namespace filch::platform::vm
