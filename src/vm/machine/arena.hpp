// Memory for the simulator's own tables, apart from the heap of the simulated program.
//
// How much of it is needed depends on where the system puts the program's memory, which differs from run to run. Were
// it taken from the heap, so would the places of the program's objects within their cache lines, and with them the
// results.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>

#include "platform/reserve.hpp"

namespace filch::platform::vm {

class arena {
 public:
  arena() = default;
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;
  ~arena() {
    while (newest_ != nullptr) {
      const chunk last = *newest_;
      release(newest_, last.bytes);
      newest_ = last.before;
    }
  }

  /// Zeroed memory, aligned to 64 bytes, for as long as the arena lives.
  [[nodiscard]] std::byte* take(std::size_t bytes) {
    bytes = (bytes + alignment - 1) / alignment * alignment;
    if (bytes > left_) grow(bytes);
    std::byte* const taken = next_;
    next_ += bytes;
    left_ -= bytes;
    return taken;
  }

 private:
  static constexpr std::size_t alignment = 64;
  static constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
  struct alignas(alignment) chunk {
    chunk* before;
    std::size_t bytes;
  };

  void grow(std::size_t wanted) {
    const std::size_t bytes = std::max(chunk_bytes, wanted + sizeof(chunk));
    void* const memory = reserve(bytes);
    newest_ = ::new (memory) chunk{newest_, bytes};
    next_ = static_cast<std::byte*>(memory) + sizeof(chunk);
    left_ = bytes - sizeof(chunk);
  }

  chunk* newest_ = nullptr;
  std::byte* next_ = nullptr;
  std::size_t left_ = 0;
};

/// For containers whose memory is an arena's. What they give back is not used again.
template <class T>
class arena_allocator {
 public:
  using value_type = T;

  explicit arena_allocator(arena& from) noexcept : from_(&from) {}
  template <class Other>
  arena_allocator(const arena_allocator<Other>& other) noexcept : from_(other.from_) {}
  [[nodiscard]] T* allocate(std::size_t n) { return reinterpret_cast<T*>(from_->take(n * sizeof(T))); }
  void deallocate(T* /*memory*/, std::size_t /*n*/) noexcept {}
  friend bool operator==(const arena_allocator& a, const arena_allocator& b) noexcept { return a.from_ == b.from_; }

 private:
  template <class Other>
  friend class arena_allocator;
  arena* from_;
};

/// Ends an object that lies in an arena.
struct end_in_arena {
  template <class T>
  void operator()(T* object) const noexcept {
    object->~T();
  }
};

}  // namespace filch::platform::vm
