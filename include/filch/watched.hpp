// What another process may read of one that uses filch: where the counters of its workers are ("filch top"). For tools;
// nothing here is called by programs.
//
// A table of the schedulers lies in a section of its own, watched::section, which a reader finds in the ELF file, stripped
// or not. It is written when a scheduler begins and ends, and never read by the process itself. A reader checks `magic`
// and `version` of the table, then `magic` of each scheduler that it reads, and counts on nothing: what it reads may be
// changed, or gone, at the same time.
#pragma once

#include <cstdint>

namespace filch::watched {

inline constexpr char section[] = "filch_watched";
inline constexpr std::uint64_t magic = 0x68637461'77686c66;
/// Another one for each change of what follows.
inline constexpr std::uint32_t version = 2;

/// The table begins with it. `schedulers` addresses follow, of `watched::scheduler` or null.
struct table_header {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t schedulers;
};

/// Where fields are, in bytes from the address of a worker.
struct worker_fields {
  std::int32_t steals, failed_steals, leaps;  ///< 64 bits each, as in `statistics`
  /// 64 bits each: twice the nanoseconds, and 1 while more are added: then less the steady clock's time when that began.
  std::int32_t idle, waiting;
  std::int32_t sleep_state;  ///< 8 bits: 1 while it sleeps, without a task
  std::int32_t dozing;       ///< 8 bits: 1 while it sleeps, inside of a task
  std::int32_t attached;     ///< 8 bits: 1 while a thread takes part as this worker; of seats and guests
};

struct scheduler {
  std::uint64_t magic;
  std::uint64_t process;  ///< its id, as it sees itself. Another one: the process's parent has made the scheduler
  std::uint64_t number;   ///< differs between the schedulers of a process
  std::uint64_t workers;  ///< with a thread or the seat: number 0; further ones are guests
  std::uint64_t all;      ///< address of 32 bits: how many workers there are, with guests
  std::uint64_t team;     ///< address of their addresses
  worker_fields fields;
  char policy[32];  ///< ends with 0
};

}  // namespace filch::watched
