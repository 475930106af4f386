// What the library has to know of a loop to run it: its code.
#pragma once

#include <cstdint>
#include <stop_token>

#include <filch/config.hpp>
#include <filch/loop.hpp>

namespace filch::detail {

struct loop_state;
class weight_sums;
struct worker_core;

/// Where the part of a loop came from that a worker begins to run.
enum class part_origin : std::uint8_t { whole, stolen, taken_back };

/// Runs [low, high) of a loop on the calling worker.
using part_function = void (*)(worker_core&, loop_state&, std::uint64_t low, std::uint64_t high, std::uint32_t chunks,
                               part_origin) noexcept;

/// Runs [low, high) of a loop that gathers nothing.
FILCH_API void run_plain_part(worker_core& w, loop_state& whole, std::uint64_t low, std::uint64_t high,
                              std::uint32_t chunks, part_origin origin) noexcept;

/// Where a chunk may end early: after each so many iterations, if somebody asks its worker for something.
struct chunk_looks {
  const worker_core* at;
  std::uint64_t each;
};

/// The code of the loops of one type: one constant for each, whose address stands for the type, and mostly for a place in the program.
struct loop_code {
  /// Runs a chunk, or its beginning. `at`: the iteration in progress, for whoever has to know which one threw. @return where it ended.
  std::uint64_t (*run_chunk)(const void* block, std::uint64_t low, std::uint64_t high, chunk_looks looks,
                             std::uint64_t& at, void* values);
  part_function run_part = &run_plain_part;
  /// What a worker gathers begins with that iteration; null: loops of this type gather nothing.
  void (*begin_values)(const void* block, std::uint64_t first, void* values) noexcept = nullptr;
  /// An interval whose values were gathered is over.
  void (*end_values)(const void* block, std::uint64_t end, void* values) = nullptr;
  const char* name;  ///< has the type of the body in it
};

/// Runs a loop, from any thread. `values`: what the caller gathers.
FILCH_API loop_status run_loop(const loop_code& code, const void* block, std::uint64_t size, splitting how,
                               const std::stop_token* stop, const weight_sums* weights, void* values);

/// Runs [low, high) of a loop on the calling worker, with what it gathers.
FILCH_API void run_part(worker_core& w, loop_state& whole, std::uint64_t low, std::uint64_t high, std::uint32_t chunks,
                        part_origin origin, void* values) noexcept;

/// May a loop of that kind run on this worker? Throws std::invalid_argument otherwise.
FILCH_API [[gnu::cold, gnu::noinline]] loop_kind checked_kind(const worker_core& w, loop_kind kind);

}  // namespace filch::detail
