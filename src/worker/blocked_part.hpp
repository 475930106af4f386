// What a worker has while its thread is blocked.
#pragma once

#include <cstdint>

#include <filch/platform/memory.hpp>

namespace filch::detail {

class stand_in;

/// Of a worker whose thread is blocked: docs/protocols/background.md.
struct blocked_part {
  platform::atomic<std::uint32_t> regions{0};  ///< any thread: inside of each other, of which the outermost counts
  /// Owner. Null: it is not blocked, or there was none to be had.
  stand_in* in_its_place = nullptr;
};

}  // namespace filch::detail
