// What a worker has of detached tasks.
#pragma once

#include <cstdint>

#include "worker/closure_pool.hpp"
#include "worker/detached_queue.hpp"

namespace filch::detail {

class group_rest;

/// Of detached tasks, what each worker has: docs/protocols/injector.md.
struct detached_part {
  explicit detached_part(std::uint32_t worker_number) noexcept : queue(worker_number + 1) {}

  detached_queue queue;                                ///< any thread
  closure_pool closures;                               ///< of the tasks that it makes
  closure_pool::blocks_on_their_way foreign_closures;  ///< of others, which it has ended
  // Owner only: tasks that it has run and not told their group yet, and that group.
  std::uint64_t ended = 0;
  group_rest* ended_of = nullptr;
  /// The queue where its last search has found tasks; 0: none has.
  std::uint32_t found_at = 0;
  std::uint64_t link_keeps = 0;  ///< of the scheduler's background_link, for the submitted tasks that it makes
};

}  // namespace filch::detail
