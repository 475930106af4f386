// A task that is not on any task stack: docs/protocols/injector.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include <filch/config.hpp>
#include <filch/detail/task.hpp>

namespace filch::detail {

class closure_pool;
class group_rest;

struct detached_task : task {
  group_rest* home = nullptr;
  std::uint64_t order = 0;        ///< place in the group's spawn order
  detached_task* next = nullptr;  ///< in the group's queue or list of taken tasks
  detached_task* previous = nullptr;
};

/// So large are the closures whose memory is kept for the next ones, with the task.
inline constexpr std::size_t pooled_bytes = 128;

/// Memory for a detached task and its closure, of pooled_bytes; it goes unless it is kept.
class FILCH_API closure_memory {
 public:
  /// For a task of that group. Any thread. @throws std::bad_alloc.
  explicit closure_memory(group_rest& of);
  ~closure_memory() { ::operator delete(memory_); }
  closure_memory(const closure_memory&) = delete;
  closure_memory& operator=(const closure_memory&) = delete;

  [[nodiscard]] void* get() const noexcept { return memory_; }
  /// @return where it belongs, which end() wants to know
  closure_pool* keep() noexcept {
    memory_ = nullptr;
    return from_;
  }
  /// Worker that has run the task.
  static void end(void* memory, closure_pool* from) noexcept;

 private:
  closure_pool* from_ = nullptr;
  void* memory_;
};

}  // namespace filch::detail
