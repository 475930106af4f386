// A fixed number of mutexes for any number of objects: those of loops and bags, which have none of their own because
// they are made on the fast path.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "platform/thread.hpp"

namespace filch::detail {

class striped_mutex {
 public:
  /// Any thread. The mutex that guards that object, and some others.
  [[nodiscard]] platform::mutex& of(const void* object) noexcept {
    return stripes_[reinterpret_cast<std::uintptr_t>(object) / alignof(std::max_align_t) % stripes_.size()].m;
  }

 private:
  struct alignas(64) stripe {
    platform::mutex m;
  };
  std::array<stripe, 61> stripes_;  // a prime, since stacks are a power of two apart
};

}  // namespace filch::detail
